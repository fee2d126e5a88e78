// Package test runs the whole program against real peers: npm's MCP servers, curl, and clients that misbehave.
package test
