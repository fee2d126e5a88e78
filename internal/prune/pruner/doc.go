// Package pruner is the pruner as MCP tools, and as two commands.
//
// [Server.Prune] is the heart: it asks package prune which lines of a text matter for a goal, with the opinion of
// a reranker where one is configured (reranking.go), has the original kept, and only then cuts. Whatever goes wrong
// on the way, the caller gets the text: whole, with a warning that says why.
//
// The tools stand on package toolserver: prune_text (tools.go, answer.go), recover_text and recover_chars
// (recover.go), search_text (search.go, pattern.go), health. A [Server] is spoken to in four ways: as a function
// ([Server.Serve]), which makes it a server inside this program; over HTTP ([Server.ServeHTTP], headers.go), where
// plain JSON-RPC and MCP clients of both eras are welcome at one address; over a pipe ([Server.ServeStdio]); and by
// a person ([Server.RunPrune], [RunRecover]).
package pruner
