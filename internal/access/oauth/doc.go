// Package oauth obtains tokens for servers and providers that require them. It uses client
// credentials, or a person's sign-in (OAuth 2.1 authorization code with PKCE).
//
// Endpoints are discovered: the server's protected resource metadata (RFC 9728) names its
// authorization server. That server's metadata (RFC 8414) names the endpoints. A client without an
// id registers itself (RFC 7591). Every token is requested with the server as its resource (RFC
// 8707), stored with it, and sent to no other. The HTTP client comes from package outbound, so
// addresses chosen by a peer cannot lead into private networks.
package oauth
