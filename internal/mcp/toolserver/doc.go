// Package toolserver is the server side of MCP for a fixed set of tools: a raw message in, a raw
// answer out, in both eras. The servers built into this program use it. The caller transports the
// messages, over HTTP, a pipe or a function call.
//
// A [Tool] has a JSON Schema for its arguments. [Server.Serve] checks the arguments against it
// (schema.go, check.go) and reports every violation before the tool sees them. A tool thus reads
// arguments that are known to fit, with [Read]. Everything is read from the raw bytes: a lone
// surrogate or a number of forty digits reaches the tool unchanged.
package toolserver
