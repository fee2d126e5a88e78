// Package chat parses a conversation with a model without losing a byte. It decides which tool
// results are sent masked or pruned.
//
// [Format.Read] validates a body and finds the offsets of its messages in one pass (format.go,
// reader.go). It also hashes them, so that a conversation can be recognized (hash.go).
// [Format.ReadOn] skips what was parsed before. Each format has its own reader (completions.go,
// messages.go, responses.go), which finds answers, calls, results and restrictions on changes
// (barrier.go). Everything after that is independent of the format. A [Record] holds what was sent
// before and its cost. It is stored under the conversation's key, and a longer conversation finds
// it at one of its [Conversation.Places].
//
// [Conversation.Jobs] lists the results to send pruned. [Conversation.Prune] prunes one for the
// purpose of its call (goal.go) and lists the names in the removed text (names.go). Lines that an
// earlier result shows become references (repeats.go). Long strings in the model's own calls may be
// cut as well (arguments.go). [Decide] then chooses the old results to mask: by the turns since
// then (turns.go), without errors (errors.go),
// and under the priced strategy by package bill. The [Plan] it returns writes the body to send and
// the Record to store.
//
// A door does this with a request, and forwards the unchanged body if anything fails:
//
//	c, err := chat.Messages.Read(body)
//	record := … // the first of c.Places() that has one
//	for _, job := range c.Jobs(pruning, record) { … } // frozen bytes, or c.Prune and freeze
//	plan := chat.Decide(chat.Input{Conversation: c, Record: record, …})
//	for _, cut := range plan.Cuts { … } // keep the original, or plan.Keep(cut.Message)
//	send(plan.Append(nil))
//	store(c.Key(), plan.Record(usage))
//
// Everything here is a pure function of its arguments. Lost state costs the provider's cache once
// but never produces a wrong message: without a Record the conversation counts as new.
package chat
