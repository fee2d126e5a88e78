// Package prune decides which lines of a text matter for a goal.
//
// [Plan] is the whole engine. It reads the text once into rows and their words (text.go, words.go,
// vocab.go, known.go). Rows are the lines that are neither blank nor repeated. It learns the
// structure of the text (code.go with headers.go and keywords.go, docs.go, logs.go, shape.go:
// headers and what they enclose, fences, tables, stack traces). It finds the goal's words in it
// (goal.go, match.go), and measures every row (features.go, measure.go and the files beside it). A
// model estimates how likely the goal needs each row (model.go, score.go). The best rows are kept
// with what encloses them until the budget is spent (choose.go, tidy.go); likely rows may stay
// beyond it (likely.go). The rest are the cuts, each with a reason (reason.go), if they are worth
// their markers (toll.go).
//
// On first pass the definitions that the goal names stay whole (named.go). Of test runs the failing tests stay with their reasons, whatever
// the goal is (verdict.go, failures.go), and of logs some of the errors (errorlines.go).
//
// The engine ignores what tools put around lines (decoration.go, stamps.go, frame.go). The form of
// a text decides what belongs together (form.go, keyed.go). A huge line is cut within itself
// (snip.go). [Guess] returns the kind of text in a file or a pipe. The numbers are the same on
// every machine (rounding.go).
//
// [Render] turns a plan into text with markers, and [Lines] finds lines in an original.
// [Candidates] lists the pieces worth showing to a reranker; its scores come back in
// [Request.Prefer]. [Trial] is for training and evaluating models.
//
// Everything here is a pure function of its arguments: the same request gives the same plan, byte
// for byte.
package prune
