// Package outbound makes HTTP clients for addresses chosen by a peer, such as the target of a
// redirect. Such an address must not lead to this machine or its network. The check runs when the
// connection is opened, on the resolved IP address, so DNS names cannot bypass it.
package outbound
