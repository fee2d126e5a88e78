// Package wire reads and writes MCP's JSON-RPC 2.0 messages as raw bytes. A [Message] records the
// offsets of its id, method, params, result and error. Everything that is not replaced is sent on
// byte for byte.
//
// [ParseRequest] reads a client's message and is strict at every level, so that no server can
// interpret the same document differently. [ParseClient] is equally strict and also accepts
// responses. [ParseBatch] splits a batch into its messages. [ParseServer] reads a server's message.
// It validates the envelope, but inside the result it only checks for well-formed JSON. In the same
// pass it records the long strings that masking may cut. All of them use the parser of
// [secateur/internal/rawjson].
//
// [NewRequest], [NewNotification], [AppendResult] and [Error.AppendResponse] build new messages.
// [Message.AppendRewritten] writes a message with some parts replaced. [Message.WithParams] and
// similar methods return a changed copy in a new document. [Message.WithoutProxyToken] removes the
// token that a client sends only to us.
//
// An [ID] keeps its JSON text and compares by value. An [Error] is the error a client gets when a
// call fails on our side. A [Reader] reads messages from a stream, newline-delimited or with
// Content-Length headers. It skips a message that is too large, extracts its id on the way, and
// continues with the next one.
package wire
