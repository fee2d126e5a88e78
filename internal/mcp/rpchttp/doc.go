// Package rpchttp carries JSON-RPC over HTTP for the doors: a request is read whole, within bounds, and an answer or
// a [Failure] is written. Which failures there are between a client and us is decided here, once; what a server
// behind a door does wrong is the door's to tell.
package rpchttp
