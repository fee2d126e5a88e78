// Package prune decides which lines of a text matter for a goal.
//
// [Plan] is the whole engine. It reads the text once into rows, the lines that are neither blank nor repeated, and their words (text.go,
// words.go, vocab.go, known.go), learns how the text is built (code.go with headers.go and keywords.go, docs.go, logs.go, shape.go: headers and
// what they enclose, fences, tables, stack traces), finds the goal's words in it (goal.go, match.go), measures every row (features.go,
// measure.go and the files beside it), has a model say how likely the goal needs the row (model.go, score.go), and then keeps the best
// rows with what encloses them until the budget is spent (choose.go, tidy.go), and those that are likely enough to stay on top of it
// (likely.go). What is left over are the cuts, each with a reason (reason.go), as far as they are worth their markers (toll.go).
//
// On first pass the definitions that the goal names stay whole (named.go). Of test runs the failing tests stay with their reasons, whatever
// the goal is (verdict.go, failures.go), and of logs some of the errors (errorlines.go).
//
// What tools put around lines is looked past (decoration.go, stamps.go, frame.go); how a text is written decides what belongs together
// (form.go, keyed.go); a huge line is cut in itself (snip.go). [Guess] tells what kind of text a file or a pipe holds. The numbers come
// out the same on every machine (rounding.go).
//
// [Render] turns a plan into text with markers, [Lines] finds lines again in an original, and [Candidates] names the pieces worth
// showing to a reranker, whose opinion comes back in [Request.Prefer]. [Trial] is for those who train and evaluate models.
//
// Everything here is a pure function of its arguments: the same request gives the same plan, byte for byte.
package prune
