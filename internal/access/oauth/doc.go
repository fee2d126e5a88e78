// Package oauth gets tokens for servers and providers that ask for them: by client credentials, or by a person's sign-in (OAuth 2.1
// authorization code with PKCE). Where to ask is discovered: the server's protected resource metadata (RFC 9728) names its authorization
// server, whose metadata (RFC 8414) names the endpoints; a client without an id registers itself (RFC 7591). Every token is asked for
// with the server as its resource (RFC 8707), kept with it, and sent to no other. Addresses that a peer names cannot lead into
// private networks: the HTTP client that is handed in sees to that (package outbound).
package oauth
