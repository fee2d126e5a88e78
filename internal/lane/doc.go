// Package lane serves the usual request itself, and leaves every other to net/http: it stands between a listener and an
// [http.Server]. A usual request is a POST of HTTP/1.1 with a short header and a Content-Length that is not large, which is what
// MCP clients send all day.
//
// net/http has a goroutine read on the side while a handler works, to notice when the client hangs up, and takes it back
// before it answers. Each of both wakes a thread, and for a small call that is a sixth of its time. Here nobody reads on the side until a
// request has lasted for a while (patience): most are over by then.
//
// A connection begins here. With its first request that is not a usual one it is handed to the server, with the bytes that were read of it, and stays
// there. Requests are parsed by net/http in both cases; what is decided here is only whether one is usual, and that errs on the other side.
package lane
