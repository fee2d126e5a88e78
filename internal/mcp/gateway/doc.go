// Package gateway is the door for raw JSON-RPC to one MCP server: what a client posts goes to the server it names,
// and long observations in the answer are cut before they reach the client.
//
// A request goes through gateway.go: read and parsed once, handed to its upstream, its answer masked (masking.go)
// and written. What concerns the connection that callers share is answered in connection.go. Every original is kept before its cut is made; what cannot be kept is not cut. Every failure is a
// JSON-RPC error with the caller's id; which one is decided in failure.go.
package gateway
