// Package toolserver is the server side of MCP for a fixed set of tools: a raw message in, a raw answer out, in
// both eras of the protocol. The servers that live inside this program are built on it; what carries the messages,
// HTTP, a pipe or a function call, is the caller's business.
//
// A [Tool] names its arguments' JSON Schema. [Server.Serve] checks the arguments against it (schema.go, check.go)
// and names every violation before the tool sees them, so that a tool reads what is known to fit, with [Read].
// Everything is read off the raw bytes: a lone surrogate or a number of forty digits reaches the tool as it came.
package toolserver
