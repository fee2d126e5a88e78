package chat

import (
	"bytes"
	"math"
	"strings"

	"secateur/internal/llm/tokens"
	"secateur/internal/rawjson"
)

// Anthropic Messages: a message holds blocks. Every tool_result is a separate Message, and so is
// each run of other blocks. An assistant's message is one Message.

func (c *Conversation) messagesField(keyed *digest, f *headerField) {
	switch string(f.word) {
	case "tools", "system":
		keyed.write(f.name)
		c.marks.head = max(c.marks.head, keyed.withoutMarks(f.raw))
		c.extra.add(estimate(f.raw, tokens.JSON))
	case "tool_choice", "thinking", "output_config", "speed", "mcp_servers":
		f.key(keyed) // a provider separates caches by these
	case "cache_control":
		c.marks.tail = markOf(f.raw)
	case "context_management":
		if clearsResults(f.raw) {
			c.barrier = ContextManagement
		}
	case "thread":
		switch {
		case is(rawjson.Get(f.raw, "type"), "continue"):
			c.Thread, c.barrier = ThreadContinue, ServerHistory
		case string(f.raw) != "null":
			c.Thread, c.barrier = ThreadCreate, ServerHistory
		}
	}
}

// clearsResults reports whether these edits may make a provider remove results or calls from a
// prompt. Claude Code asks with every request to keep thinking, which removes nothing; an unknown
// edit may remove anything.
func clearsResults(management []byte) bool {
	if rawjson.IsNothing(management) {
		return false
	}
	edits := rawjson.Get(management, "edits")
	if !rawjson.IsObject(management) || !rawjson.IsNothing(edits) && edits[0] != '[' {
		return true
	}
	for edit := range rawjson.Items(edits) {
		if !strings.HasPrefix(rawjson.GetText(edit, "type"), "clear_thinking_") {
			return true
		}
	}
	return false
}

func (c *Conversation) readMessagesMessage(r *reader) {
	first := len(c.Messages)
	at := span{start: r.pos()}
	envelope := newDigest() // of everything but the content
	role := Other
	for r.enter(); ; {
		name := r.name()
		if name == nil {
			break
		}
		switch word := decoded(name); {
		case string(word) == "content":
			c.readBlocks(r)
		default:
			raw := r.value().of(r.doc)
			envelope.write(name)
			envelope.write(raw)
			if string(word) == "role" {
				role = roleOf(raw)
			}
		}
	}
	if len(c.Messages) == first {
		c.add(r).open()
	}
	at.end = r.pos()
	for i := first; i < len(c.Messages); i++ {
		c.Messages[i].close(r, at, role, envelope)
	}
}

// open starts a message before its parts are read.
func (m *Message) open() { m.digest, m.size.tokens = newDigest(), overhead }

// close completes a message once its enclosing message is read.
func (m *Message) close(r *reader, at span, role Role, envelope digest) {
	m.at = at
	m.digest.take(envelope)
	switch {
	case m.Role != Tool:
		m.Role, m.content = role, span{}
		if role == User && m.text.end > 0 && isReminder(m.text.of(r.doc)) {
			m.text = span{}
		}
	case role != User: // not a result from a client
		m.size.add(m.contentSize(r.doc))
		m.due = 0
		m.Role, m.content, m.Chars = Other, span{}, 0
	}
}

// readBlocks reads the content of a message.
func (c *Conversation) readBlocks(r *reader) {
	switch r.peek() {
	case '"':
		m := c.add(r)
		m.open()
		m.text, _ = r.text()
		m.digest.write(m.text.of(r.doc))
		m.size.add(estimate(m.text.of(r.doc), tokens.Prose))
		return
	case '[':
	default:
		m := c.add(r)
		m.open()
		m.digest.write(r.value().of(r.doc))
		return
	}
	open, firstCall := -1, 0 // the message for blocks that are no results, and its first call
	calling := false         // the previous block was a call: a cache counts a run of these as one
	for r.list(); r.part(); {
		var b block
		b.read(r)
		if b.is("tool_result") {
			open = -1
			m := c.add(r)
			*m = b.result
			m.Role = Tool
			if b.useID.end > 0 {
				m.CallID = r.shared(b.useID.of(r.doc))
			}
			m.IsError, m.mark = b.isError, max(b.mark, m.mark)
			m.digest = b.digest
			m.size.add(idSize(b.useID.end - b.useID.start))
			m.size.tokens += overhead
			if m.content.end > 0 {
				m.measureLater(r, tokens.Code)
			}
			continue
		}
		switch isCall := b.is("tool_use"); {
		case open < 0:
			open, calling, firstCall = len(c.Messages), isCall, len(r.calls)
			if c.add(r).open(); r.err != nil {
				return
			}
		case !isCall || !calling:
			calling = isCall
			c.Messages[open].places += min(1, math.MaxUint8-c.Messages[open].places)
		}
		c.Messages[open].take(r, &b)
		if len(r.calls) > firstCall {
			c.Messages[open].Calls = r.calls[firstCall:len(r.calls):len(r.calls)]
		}
	}
}

// take adds a block that is no result.
func (m *Message) take(r *reader, b *block) {
	m.mark = b.mark // the last block's mark is the one at the end
	switch {
	case b.is("text") && b.text.end > 0:
		m.digest.write(b.text.of(r.doc)) // as if it were the whole content
		m.size.add(estimate(b.text.of(r.doc), tokens.Prose))
		if m.text.end == 0 || isReminder(m.text.of(r.doc)) {
			m.text = b.text
		}
		return
	case b.is("tool_use") && b.id.end > 0:
		call := Call{ID: r.shared(b.id.of(r.doc)), arguments: b.input}
		if b.name.end > 0 {
			call.Name = r.shared(b.name.of(r.doc))
		}
		r.addCall(call)
	case b.is("thinking"), b.is("redacted_thinking"):
		// A client may omit all of it, or the old ones: the conversation is the same.
		m.signed = true
		m.size.add(idSize(b.at.end - b.at.start))
		return
	case b.is("compaction"):
		m.special = summary
	}
	m.digest.take(b.digest)
	size := b.at.end - b.at.start
	if !b.is("tool_use") {
		size = min(size, maxMedia)
	}
	m.size.add(idSize(size))
}

// isReminder recognizes texts that a client adds beside its user's.
func isReminder(raw []byte) bool { return bytes.HasPrefix(raw, []byte(`"<system-reminder>`)) }

// block is a part of a message while it is read, before its type is known.
type block struct {
	kind    []byte
	at      span
	text    span
	id      span // of a call
	useID   span // of the call that a result answers
	name    span
	input   span
	isError bool
	mark    mark
	result  Message // its content as a result's
	digest  digest  // of everything but the mark
}

func (b *block) is(kind string) bool { return string(b.kind) == kind }

func (b *block) read(r *reader) {
	b.at.start, b.digest = r.pos(), newDigest()
	if r.peek() != '{' {
		b.at = r.value()
		b.digest.write(b.at.of(r.doc))
		return
	}
	for r.enter(); ; {
		name := r.name()
		if name == nil {
			break
		}
		word := decoded(name)
		if string(word) == "content" {
			b.result.readContent(r, resultParts)
			b.digest.take(b.result.said)
			continue
		}
		isString := r.peek() == '"'
		at := r.value()
		raw := at.of(r.doc)
		if string(word) == "cache_control" {
			b.mark = markOf(raw)
			continue
		}
		b.digest.write(name)
		b.digest.write(raw)
		switch string(word) {
		case "is_error":
			b.isError = string(raw) == "true"
		case "input":
			b.input = at
		}
		if isString {
			b.note(word, at, raw)
		}
	}
	b.at.end = r.pos()
}

// note stores a member that is a string.
func (b *block) note(word []byte, at span, raw []byte) {
	switch string(word) {
	case "type":
		b.kind = decoded(raw)
	case "text":
		b.text = at
	case "id":
		b.id = at
	case "tool_use_id":
		b.useID = at
	case "name":
		b.name = at
	}
}
