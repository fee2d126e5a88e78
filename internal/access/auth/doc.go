// Package auth identifies callers. It checks tokens, JWTs, HMAC signatures and client certificates,
// and returns a principal or the reason for the refusal. Package access decides what a principal
// may do.
//
// An [Authenticator] is asked once per request. Static tokens are a map by SHA-256, replaced whole
// when the token file changes. Valid JWTs are cached for a minute, so a busy client costs one
// signature check per minute. Keys of the identity provider are fetched when a token names an
// unknown key, at most every ten seconds. Fetched keys stay in use while the provider is
// unreachable.
package auth
