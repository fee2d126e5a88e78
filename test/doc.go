// Package test runs the whole program against real peers: npm's MCP servers, curl, and misbehaving
// clients.
package test
