package chat

import (
	"slices"
	"strings"
)

// Barrier says why earlier messages may not be masked. The words appear in a header and in the log.
type Barrier string

// The reasons not to mask a conversation.
const (
	Open Barrier = "" // none
	// The provider has bound its reasoning to what was sent before.
	PreservedThinking Barrier = "preserved-thinking"
	ContextManagement Barrier = "context-management" // the provider edits the context itself
	// The provider keeps the history, so the request has only a part of it.
	ServerHistory Barrier = "server-history"
	// The provider has refused our changes: leave the conversation alone.
	Refused Barrier = "refused-before"
	// The request counts or compacts: it gets what was sent, and nothing new.
	ReplayOnly Barrier = "replay-only"
	// The conversation passes untouched, for comparison with those that are cut.
	HeldOut Barrier = "holdout"
)

// Thread says how a request relates to a conversation that the server keeps.
type Thread uint8

// The kinds of requests.
const (
	NoThread       Thread = iota // it has the whole conversation
	ThreadCreate                 // the same; the server keeps it from here on
	ThreadContinue               // it has only what is new
)

// Barrier returns why a conversation with a model may not be masked; Open: it may.
func (c *Conversation) Barrier(model string) Barrier {
	if c.Compacts() {
		return ReplayOnly
	}
	if c.barrier != Open {
		return c.barrier
	}
	isBinding := c.isBinding(model)
	for i := range c.Messages {
		switch m := &c.Messages[i]; {
		case m.signed && isBinding:
			return PreservedThinking
		case m.special == reference:
			return ServerHistory
		}
	}
	return Open
}

// Compacts reports whether a request asks for a summary that starts another conversation.
func (c *Conversation) Compacts() bool {
	return len(c.Messages) > 0 && c.Messages[len(c.Messages)-1].special == trigger
}

// Binds reports whether a model may refuse a conversation if something in it was sent differently
// before. It may do so now, or once it has reasoned.
func (c *Conversation) Binds(model string) bool { return c.isBinding(model) }

// isBinding reports whether a model may check its reasoning against what was sent before it. In
// chat completions, only routers return signed reasoning, and of their models only Claude checks
// it.
func (c *Conversation) isBinding(model string) bool {
	name := strings.ToLower(model)
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	switch c.Format {
	case Responses:
		return false
	case Completions:
		return strings.Contains(name, "claude") && !isUnbound(name)
	}
	return !isUnbound(name)
}

// isUnbound recognizes models that are known not to check. If a generation has a successor with the
// same number and a point, the end of the name decides: nothing, or a date.
func isUnbound(name string) bool {
	for _, family := range []string{"claude-3", "claude-opus-4", "claude-sonnet-4", "claude-haiku-4"} {
		if strings.HasPrefix(name, family) {
			return true
		}
	}
	for _, exact := range []string{"claude-opus-5", "claude-sonnet-5", "claude-fable-5"} {
		if rest, ok := strings.CutPrefix(name, exact); ok && (rest == "" || isDate(rest)) {
			return true
		}
	}
	return false
}

// isDate reports whether the rest of a model's name is like -20260115.
func isDate(rest string) bool {
	if len(rest) != len("-20260115") || rest[0] != '-' {
		return false
	}
	for i := 1; i < len(rest); i++ {
		if !isDigit(rest[i]) {
			return false
		}
	}
	return true
}

// summarized returns how many messages the provider ignores because a later summary replaces them.
func (c *Conversation) summarized() int {
	for i := range slices.Backward(c.Messages) {
		if c.Messages[i].special == summary {
			return i
		}
	}
	return 0
}
