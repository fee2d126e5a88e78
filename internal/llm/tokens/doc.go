// Package tokens estimates how many tokens a model sees in a text, without a tokenizer's tables and at memory speed.
//
// One pass walks a small machine over the bytes (machine.go): its state says what a byte is and how far into a word, a number or a
// run of signs it stands. Every state has a weight, the tokens that a byte there adds on average, one table per kind of content
// (weights.go, fitted by test/eval/tokens to o200k). The estimate is the sum. A table has the state after a byte and what the byte adds in one
// word, and several parts of a text are walked at once (steps.go); what stands in a JSON document is measured there, without decoding it.
package tokens
