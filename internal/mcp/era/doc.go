// Package era handles the differences between the two eras of MCP. In the legacy revisions,
// 2024-11-05 to 2025-11-25, a client introduces itself once and both sides send requests. In the
// modern revision, 2026-07-28, every request identifies its sender, and a result may ask for input
// (MRTR).
//
// Meta is the sender's information in a modern request (meta.go). ResultToLegacy and ResultToModern
// convert results between the eras (result.go). ReadInputRequired and AppendInputRequired read and
// write results that ask for input. ReadRetry and RetryParams handle the retried request with the
// answers (input.go). Covers, Union and Declares compare and merge client capabilities
// (capabilities.go, using the trees of tree.go). version.go assigns revisions to eras; codes.go has
// the error codes that MCP adds to JSON-RPC. CheckHeaders, EncodeHeader and ToolHeaders handle the
// values that modern HTTP repeats in headers (headercheck.go, header.go, toolheaders.go for the
// schema, arguments.go for a call).
//
// All functions work in one pass on raw JSON that was validated on arrival. Unchanged parts keep
// their bytes. Names are compared after decoding escapes. If a name occurs twice, which only
// servers may send, the last one counts.
package era
