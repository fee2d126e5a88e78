// Package era knows what the two eras of the protocol say differently: the legacy
// revisions 2024-11-05 to 2025-11-25, in which a client introduces itself once and
// both sides ask each other, and the modern one, 2026-07-28, in which every request
// says who sends it and an answer may ask back.
//
// Meta is what a modern request tells about its sender (meta.go). Results are
// dressed for the other era by ResultToLegacy and ResultToModern (result.go). A
// modern answer that asks back is read and written by ReadInputRequired and
// AppendInputRequired, the request that comes again with the answers by ReadRetry
// and RetryParams (input.go). What a client can do is compared and joined by
// Covers, Union and Declares (capabilities.go, on the small trees of tree.go).
// Which revisions belong to which Era is in version.go, the error codes that MCP adds
// to JSON-RPC are in codes.go. CheckHeaders, EncodeHeader and ToolHeaders are for what
// modern HTTP repeats in headers (headercheck.go, header.go, toolheaders.go for the
// schema, arguments.go for a call).
//
// Everything works on raw JSON that was checked when it came in, in one pass, and
// what is not changed keeps its bytes. Names are compared by what they say, not by how
// they are escaped; of a name that comes twice, which only servers may send, the last
// one counts.
package era
