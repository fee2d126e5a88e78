// Package catalog merges the lists of many MCP servers into one: names, URIs, cursors. It only
// decides; a door asks the servers and answers the clients.
//
// [Merge] builds a [Catalog] from the servers' lists. Every tool, prompt, resource and template is
// kept as raw bytes. When a list is written for a client, only the bytes of names and URIs are
// replaced. Numbers, unknown members, key order and white space stay. An item that cannot be used
// becomes a [Problem] and never spoils the list.
//
// Tools and prompts are named <server>::<name>, unless a client's API rejects such names. [Names]
// knows what the well-known clients accept, and [Catalog.View] is the catalog in one [Naming]. A
// View writes pages ([View.Page]) and routes requests ([View.Route]). It understands a call in
// every naming scheme, whichever client it was made for. It also understands a bare name if only
// one server has it.
//
// Resources have the URI proxy://resource/<base64 of {"server","uri"}>, templates
// proxy://t/<server>/<template>. ui://x becomes ui://<server>/x, because clients interpret that
// scheme. [Outgoing] rewrites the URIs in a server's messages, wherever the protocol has them, in
// one pass. [Catalog.ResolveURI] reverses that without stored state. Tasks are named
// <server>::<task>: Outgoing adds the server's id, [View.Route] and [UnwrapRelated] remove it.
//
// A Catalog and its Views are immutable and safe for concurrent use. Lists are rendered on first
// use and then kept, so that a page is a slice of bytes.
package catalog
