// Package llm is a model provider for tests that speaks Anthropic Messages and OpenAI Responses. It
// shares no code with the program, so that tests can compare the program's changes with a
// provider's view.
//
// A [Provider] is an http.Handler. It refuses what the real ones refuse (messages.go,
// responses.go). Examples are a fifth cache marker, a result without its call, and a credential in
// the wrong header. Models that bind thinking refuse a thinking block after a changed prefix
// (binding.go). It has a prompt cache of each of the four kinds (caches.go) and bills what reached
// it. A second [Book] bills what the client sent, as if it had been passed through. A [Script] is
// the test's function for what the model says; a [Fault] is how a request fails.
//
// A [Tap] sits between a client and the program and records what the client sent and got. [Compare]
// lists the strings in which the request that reached the provider differs, and fails on any other
// difference.
package llm
