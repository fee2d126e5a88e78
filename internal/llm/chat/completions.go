package chat

import "secateur/internal/llm/tokens"

// OpenAI's chat completions: each message is a Message.

func (c *Conversation) completionField(keyed *digest, f *headerField) {
	switch string(f.word) {
	case "tools", "functions", "response_format":
		f.key(keyed)
		c.extra.add(estimate(f.raw, tokens.JSON))
	case "reasoning_effort", "reasoning", "thinking", "verbosity", "service_tier", "tool_choice", "prompt_cache_key":
		f.key(keyed) // some providers separate caches by these
	}
}

func (c *Conversation) readCompletionMessage(r *reader) { c.add(r).readCompletion(r) }

// readCompletion reads one message. Its digest ignores differences without meaning: cache marks,
// which clients move along, and whether a text is a string or the only part of a list.
func (m *Message) readCompletion(r *reader) {
	m.at.start, m.size.tokens = r.pos(), overhead
	d := newDigest()
	for r.enter(); ; {
		name := r.name()
		if name == nil {
			break
		}
		word := decoded(name)
		switch string(word) {
		case "content":
			as := textParts
			if m.Role == Tool { // if it precedes the content, as clients write it
				as, m.listed = resultParts, r.peek() == '['
			}
			m.readContent(r, as)
			d.take(m.said)
			continue
		case "tool_calls":
			m.readCalls(r, &d)
			continue
		case "cache_control":
			m.mark = markOf(r.value().of(r.doc))
			continue
		}
		raw := r.value().of(r.doc)
		d.write(name)
		d.write(raw)
		switch string(word) {
		case "role":
			m.Role = roleOf(raw)
		case "is_error":
			m.IsError = string(raw) == "true"
		case "tool_call_id":
			if len(raw) > 0 && raw[0] == '"' {
				m.CallID = r.shared(raw)
			}
			m.size.add(idSize(len(raw)))
		case "reasoning_details", "thinking_blocks": // routers return signed reasoning in these
			m.signed = len(raw) > len("null")
			m.size.add(idSize(len(raw)))
		default:
			m.size.add(idSize(len(raw)))
		}
	}
	m.at.end = r.pos()
	m.digest = d
	if m.content.end > 0 {
		m.measureLater(r, kindOf(m.Role))
	}
}

func roleOf(raw []byte) Role {
	switch {
	case is(raw, "tool"):
		return Tool
	case is(raw, "assistant"):
		return Assistant
	case is(raw, "user"):
		return User
	}
	return Other
}

func (m *Message) readCalls(r *reader, d *digest) {
	if r.peek() != '[' {
		d.write(r.value().of(r.doc))
		return
	}
	whole := span{start: r.pos()}
	first := len(r.calls)
	for r.list(); r.part(); {
		if r.peek() != '{' {
			r.value()
			continue
		}
		var call Call
		hasID := false
		for r.enter(); ; {
			name := r.name()
			if name == nil {
				break
			}
			switch word := decoded(name); {
			case string(word) == "id" && r.peek() == '"':
				call.ID, hasID = r.shared(r.value().of(r.doc)), true
				m.size.add(idSize(len(call.ID)))
			case string(word) == "function" && r.peek() == '{':
				m.size.add(idSize(call.readFunction(r)))
			default:
				r.value()
			}
		}
		if hasID {
			r.addCall(call)
		}
	}
	if len(r.calls) > first {
		m.Calls = r.calls[first:len(r.calls):len(r.calls)]
	}
	whole.end = r.pos()
	d.write(whole.of(r.doc))
}

// readFunction reads the called function and its arguments. It returns the number of characters of
// both.
func (c *Call) readFunction(r *reader) int {
	size := 4
	for r.enter(); ; {
		name := r.name()
		if name == nil {
			break
		}
		isString := r.peek() == '"'
		switch word := decoded(name); {
		case string(word) == "name" && isString:
			c.Name = r.shared(r.value().of(r.doc))
			size += len(c.Name)
		case string(word) == "arguments" && isString:
			var chars int
			c.arguments, chars = r.text()
			size += chars
		default:
			at := r.value()
			size += at.end - at.start
		}
	}
	return size
}
