// Package aggregate is the door that MCP clients connect to: all servers as one ([Server.Aggregate]), and each server
// by itself ([Server.Only]), whichever revision of the protocol a client speaks and whichever its servers do.
//
// What carries the messages is downstream's business, which connection to a server serves a client is pool's. Here it
// is decided what a message means. A clientConn (clientconn.go) is one client's connection: Handle admits a request
// (admission.go), finds out who asks (client.go), and answers it by itself (handshake.go, lists.go, loglevel.go,
// subscribe.go, listen.go) or forwards it (route.go, forward.go) as a proxiedCall. What a server sends meanwhile goes
// to the client through a relay (relay.go); what it sends outside any call comes through the client's feed
// (clientfeed.go). Requests of servers that the client has not answered yet are in pendingrequests.go, a client's
// notifications on their way to the servers in notifications.go.
//
// Client and server may be of different eras. Between equals messages pass as they are. A modern server that answers
// input_required is called again with what the client said (mrtrrounds.go); a legacy server that asks in the middle of
// a modern client's call has that call parked until the client comes back with the answers (mrtr.go, parkedcall.go,
// parkedcalls.go, requeststate.go): both are MRTR, SEP-2322.
//
// Results are rewritten and cut last (forward.go, masking.go). What is neither renamed nor cut keeps its bytes.
// Jobs that outlive their request run in the background and are joined by [Server.Wait] (background.go).
package aggregate
