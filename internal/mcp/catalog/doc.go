// Package catalog merges the lists of many MCP servers into one: names, URIs,
// cursors. It decides; a door asks the servers and answers the clients.
//
// [Merge] makes a [Catalog] out of what the servers list. Every tool, prompt,
// resource and template is kept as the bytes it came in; when a list is written
// for a client, the bytes of its name or URI are replaced and all others stay:
// numbers, unknown members, key order, white space. An item that cannot be used
// becomes a [Problem] and never spoils the list.
//
// Tools and prompts are called <server>::<name>, unless a client's API refuses
// such names: [Names] knows what the well-known clients accept, and
// [Catalog.View] is the catalog as one [Naming] shows it. A View writes pages
// ([View.Page]) and takes requests ([View.Route]): a call is understood in every
// form, whichever client it was made for, and by the bare name where only one
// server has it.
//
// Resources are called proxy://resource/<base64 of {"server","uri"}>, templates
// proxy://t/<server>/<template>, and ui://x becomes ui://<server>/x, because
// clients look at that scheme. [Outgoing] rewrites the URIs in what a server
// sends, wherever the protocol has them, in one pass; [Catalog.ResolveURI] is the
// way back and needs no memory. The same goes for tasks, which are called
// <server>::<task>: Outgoing puts the server's id in, [View.Route] and
// [UnwrapRelated] take it out.
//
// A Catalog and its Views never change once made and may be used by any number of
// goroutines. Lists are rendered when they are first asked for and then kept, so
// that a page is a slice of bytes.
package catalog
