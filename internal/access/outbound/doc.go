// Package outbound makes HTTP clients for addresses that a peer has named: an identity provider's keys, the target of a redirect. Such an
// address may not lead to this machine or its network, whatever name it is given: the check is made when the connection is opened, on
// the address that the name has resolved to.
package outbound
