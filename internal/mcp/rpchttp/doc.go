// Package rpchttp transports JSON-RPC over HTTP for the doors. It reads a whole request within
// limits, and writes an answer or a [Failure]. It defines the failures between a client and us.
// Each door reports the failures of the servers behind it.
package rpchttp
