// Package templates hosts resource templates of the proxy itself: texts with variables, which MCP clients find in the aggregate under the
// server id secateur, read by a URI that fills the variables in, and may subscribe to.
//
// A [Template] is what a person made through the control plane; pattern.go reads URIs off it (RFC 6570, level 1 and {+var}). A [Book] keeps
// the templates, one file each in the state directory, within bounds. A [Server] is one connection of the pool to them: the MCP server that
// lists and reads, and tells of what has changed.
package templates
