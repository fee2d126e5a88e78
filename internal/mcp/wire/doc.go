// Package wire reads and writes JSON-RPC 2.0 messages as MCP uses them, over their
// raw bytes: a [Message] knows where its id, method, params, result and error
// stand in the document it came in, and everything that is not replaced goes out
// as it came, byte for byte.
//
// [ParseRequest] reads what a client sent and is strict all the way down: one
// reading of the document decides, so nobody behind us can read it another way.
// [ParseClient] is as strict and takes a client's answers too; [ParseBatch] takes
// several messages apart.
// [ParseServer] reads what a server sent: the envelope is held to the standard,
// inside the result nothing is judged but that it is JSON, and in the same pass
// the strings that masking may want to cut are noted. Both stand on
// [secateur/internal/rawjson], one parser for all.
//
// [NewRequest], [NewNotification], [AppendResult] and [Error.AppendResponse] make the
// messages of our own. [Message.AppendRewritten] writes a message with parts of it replaced.
// [Message.WithParams] and its like make another message of one, in a document of
// its own; [Message.WithoutProxyToken] takes out what a client meant for us alone.
//
// An [ID] keeps its JSON text and compares by value. An [Error] is what a client
// gets when a call fails on our side. A [Reader] takes messages off a stream,
// newline-delimited or with Content-Length headers; one that is too large is
// skipped to its end, with its id found on the way, and reading goes on.
package wire
