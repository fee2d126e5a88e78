// Package chat reads a conversation with a model without losing a byte of it and decides
// which tool results go out masked or pruned.
//
// [Format.Read] checks a body and finds its messages by their offsets, in one pass
// (format.go, reader.go), and hashes them, so that a conversation is known again by what
// stands in it (hash.go); [Format.ReadOn] leaves out what was read before. Each format has a
// reader of its own (completions.go, messages.go, responses.go), which tells answers, calls,
// results and what may not be changed (barrier.go); all that follows knows no format. A [Record] is what
// was sent before and what it has cost; it is kept under the conversation's key and
// found again, by any longer conversation, at one of its [Conversation.Places].
//
// [Conversation.Jobs] names the results that go out pruned, [Conversation.Prune] prunes
// one for what its call was after (goal.go) and tells the names of what went (names.go).
// [Decide] then says which old results are masked: by the turns that have passed since
// (turns.go), errors kept (errors.go), and under the priced strategy by what package
// bill makes of it. The [Plan] it returns writes the body that goes out, and the
// Record to keep.
//
// A door does this with a request, and forwards the body as it came where anything
// fails:
//
//	c, err := chat.Messages.Read(body)
//	record := … // the first of c.Places() that has one
//	for _, job := range c.Jobs(pruning, record) { … } // frozen bytes, or c.Prune and freeze
//	plan := chat.Decide(chat.Input{Conversation: c, Record: record, …})
//	for _, cut := range plan.Cuts { … } // keep the original, or plan.Keep(cut.Message)
//	send(plan.Append(nil))
//	store(c.Key(), plan.Record(usage))
//
// Everything here is a pure function of its arguments. What is lost in between costs
// the provider's cache once and never makes a wrong message: without a Record the
// conversation counts as new.
package chat
