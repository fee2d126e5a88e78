// Package gateway is the door for raw JSON-RPC to one MCP server. A client's message goes to the
// server it names, and long observations in the answer are cut before they reach the client.
//
// gateway.go handles a request: it is read and parsed once, passed to its upstream, and its answer
// is masked (masking.go) and written. connection.go answers requests about the shared connection.
// Every original is stored before its cut is made; texts that cannot be stored are not cut. Every
// failure is a JSON-RPC error with the caller's id; failure.go decides which.
package gateway
