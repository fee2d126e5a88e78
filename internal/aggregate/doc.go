// Package aggregate is the door that MCP clients connect to: all servers as one ([Server.Aggregate]), and each server
// by itself ([Server.Only]), whichever revision of the protocol a client speaks and whichever its servers do.
//
// What carries the messages is downstream's business, which connection to a server serves a client is pool's. Here it
// is decided what a message means. A session (session.go) is one client: Handle admits a request (admit.go), finds out
// who asks (client.go), and answers it by itself (handshake.go, lists.go, levels.go, subscribe.go, listen.go) or
// forwards it (route.go, forward.go). What a server sends meanwhile goes to the client through a relay (relay.go); what
// it sends outside any call comes in news.go; asks.go keeps the questions that clients have not answered yet.
//
// Client and server may be of different eras. Between equals messages pass as they are. A modern server that wants
// something first is asked again with what the client said (rounds.go); a legacy server that asks in the middle of a
// modern client's call has that call parked until the client comes back with the answers (parked.go, seal.go).
//
// Results are rewritten and cut last (answer.go, masking.go). What is neither renamed nor cut keeps its bytes.
package aggregate
