// Package rerank asks a model how well texts answer a query. The pruner can then prefer lines by
// the meaning of the goal. It is the only part of the pruner that uses the network, and only if the
// settings say so.
//
// A [Client] uses one backend: DeepInfra's inference API, or any server with a /rerank endpoint
// (Cohere, Jina, vLLM, llama.cpp, Infinity, Text Embeddings Inference). wire.go has their request
// and response formats.
//
// Score may be called freely. A short-lived cache answers repeated questions (cache.go). Concurrent
// equal questions share one request (flight.go). A circuit breaker pauses requests to a backend
// that has stopped answering (breaker.go). Every failure is an [*Error] whose Warning is the word
// in the pruner's response; the caller then continues without scores. Errors and logs never contain
// the key or any text.
package rerank
