// Package rerank asks a model how well each of some texts answers a query, so that the pruner can prefer lines by
// what the goal means. It is the one part of the pruner that talks to the outside, and only where the settings say so.
//
// A [Client] speaks to one backend: DeepInfra's inference interface, or any server with a /rerank endpoint (Cohere,
// Jina, vLLM, llama.cpp, Infinity, Text Embeddings Inference). wire.go knows how each is asked and what it answers.
//
// Score is meant to be called freely. Equal questions within a short time are answered from memory (cache.go), equal
// questions at the same time are asked once (flight.go), and a backend that has stopped answering is left alone for a
// while (breaker.go). Whatever goes wrong is an [*Error] whose Warning is the word the pruner's answer carries; the
// caller then goes on without scores. Neither the key nor any text is ever in an error or a log.
package rerank
