// Package provider is a model provider for tests. It answers chat completions, counts tokens in its
// own way, caches prompts as real providers do, and bills at real prices. It shares no code with
// the program, so that tests can compare the program's reports with the true bill.
//
// [Tokens] is its tokenizer: a word-piece one with about five characters of prose or three of code
// per token. A [Cache] stores the beginnings of prompts, one for each model and list of tools. It
// stores them in blocks, above a minimum, for as long as they are used. A [Ruler] bills every
// conversation twice: what reached the provider, and what the client sent, as if it had been passed
// through.
package provider
