// Package provider is a provider of language models for tests: it answers chat completions,
// counts tokens in its own way, caches prompts as real ones do, and bills at real prices. It
// shares no code with the program, so that what the program tells about a bill can be held
// against what was really paid.
//
// [Tokens] is its tokenizer: a word-piece one that makes about five characters of prose and
// three of code into a token. A [Cache] keeps the beginnings of prompts, one for each model and list of
// tools, in blocks, from a minimum on, for as long as they are used. A [Ruler] bills every
// conversation twice: what reached the provider, and what the client sent, as if it had been
// passed through.
package provider
