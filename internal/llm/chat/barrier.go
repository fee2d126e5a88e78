package chat

import (
	"slices"
	"strings"
)

// Barrier is why what was sent before may not be masked. The words stand in a header and in the log.
type Barrier string

// What keeps a conversation from being masked.
const (
	Open              Barrier = ""                   // nothing
	PreservedThinking Barrier = "preserved-thinking" // the provider has bound its reasoning to what was sent before
	ContextManagement Barrier = "context-management" // the provider edits the context itself
	ServerHistory     Barrier = "server-history"     // the provider keeps what was said before: not all of it is in the request
	Refused           Barrier = "refused-before"     // the provider has refused what was made of the conversation: it is left alone
	ReplayOnly        Barrier = "replay-only"        // the request counts or compacts: it gets what was sent, and nothing new
)

// Thread says how a request is a part of a conversation that the server keeps.
type Thread uint8

// The kinds of requests.
const (
	NoThread       Thread = iota // it holds the whole conversation
	ThreadCreate                 // so does this one; the server keeps it from here on
	ThreadContinue               // it holds only what is new
)

// Barrier says why a conversation with a model may not be masked; Open where it may.
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

// Compacts tells whether a request asks for a summary of the conversation, with which another begins.
func (c *Conversation) Compacts() bool {
	return len(c.Messages) > 0 && c.Messages[len(c.Messages)-1].special == trigger
}

// Binds tells whether a model may refuse a conversation, now or once it has reasoned in it, of which something went out otherwise before.
func (c *Conversation) Binds(model string) bool { return c.isBinding(model) }

// isBinding tells whether a model may check its reasoning against what was sent before it. In chat completions
// signed reasoning comes back from routers only, and of the models behind these only Claude checks it.
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

// isUnbound tells the models that are known not to check. Those of a generation that was followed by one of the same
// number with a point are told apart by what comes after their name: nothing, or a date.
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

// isDate tells whether a model's name ends here in -20260115.
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

// summarized is how many messages the provider does not look at, since a later one stands for them.
func (c *Conversation) summarized() int {
	for i := range slices.Backward(c.Messages) {
		if c.Messages[i].special == summary {
			return i
		}
	}
	return 0
}
