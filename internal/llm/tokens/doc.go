// Package tokens estimates how many tokens a model sees in a text, without a tokenizer's tables and
// at memory speed.
//
// One pass runs a small state machine over the bytes (machine.go). Its state is the kind of the
// byte, and its position in a word, a number or a run of signs. Every state has a weight: the
// tokens that a byte adds there on average. There is one table of weights per kind of content
// (weights.go, fitted to o200k by test/eval/tokens). The estimate is the sum. For speed, one table
// entry combines the next state and the weight. Several parts of a text are processed at once
// (steps.go). Strings inside a JSON document are measured in place, without decoding.
package tokens
