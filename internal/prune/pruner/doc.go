// Package pruner offers the pruner as MCP tools and as two commands.
//
// [Server.Prune] is the core. It asks package prune which lines of a text matter for a goal. A
// configured reranker contributes scores (reranking.go). It stores the original, and only then
// cuts. On any failure the caller gets the whole text, with a warning that says why.
//
// The tools are built on package toolserver: prune_text (tools.go, answer.go), recover_text and
// recover_chars (recover.go), search_text (search.go, pattern.go), health. A [Server] can be used
// in four ways. [Server.Serve] is a function for use inside this program. [Server.ServeHTTP]
// (headers.go) accepts plain JSON-RPC and MCP clients of both eras at one address.
// [Server.ServeStdio] serves a pipe. [Server.RunPrune] and [RunRecover] serve a person.
package pruner
