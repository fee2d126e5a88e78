// Package llm is a provider of language models for tests that speaks Anthropic Messages and OpenAI Responses. It shares
// no code with the program, so that what the program does to a request can be held against what a provider makes of it.
//
// A [Provider] is an http.Handler. It refuses what the real ones refuse (messages.go, responses.go): a thinking block behind
// a changed prefix on models that bind it (binding.go), a fifth cache marker, a result without its call, a credential in the
// wrong header. It keeps a prompt cache of each of the four kinds (caches.go) and bills what reached it; what the client sent
// is billed by a second [Book], as if it had been passed through. What the model says is a function of the test's, a [Script];
// how a request fails is a [Fault].
//
// A [Tap] stands between a client and the program and remembers what the client sent and got. [Compare] says in which
// strings what reached the provider differs from it, and fails where anything else does.
package llm
