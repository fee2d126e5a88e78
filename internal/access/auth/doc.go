// Package auth finds out who is calling: it checks tokens, JWTs of an identity provider, HMAC signatures and client certificates, and
// gives a principal or says why not. Rules about what a principal may do are package access's.
//
// An [Authenticator] is asked once a request. The static tokens are a map by their SHA-256, replaced whole when the token file changes;
// JWTs that were found good are remembered for a minute, so that a busy client costs one signature check a minute; keys of the provider are
// fetched when a token names one that is not known, once in ten seconds at most, and serve on while the provider is away.
package auth
