// Package templates hosts resource templates of the proxy itself: texts with variables. MCP clients
// find them in the aggregate under the server id secateur. They read them by a URI that sets the
// variables, and may subscribe to them.
//
// A [Template] is created through the control plane. pattern.go matches URIs against it (RFC 6570,
// level 1 and {+var}). A [Book] stores the templates, one file each in the state directory, within
// limits. A [Server] is one connection of the pool to them: the MCP server that lists and reads
// them and announces changes.
package templates
