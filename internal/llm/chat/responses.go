package chat

import (
	"bytes"
	"strings"

	"secateur/internal/llm/tokens"
	"secateur/internal/rawjson"
)

// OpenAI Responses: an item is a Message. One answer of a model is several items: reasoning, texts,
// calls.

func (c *Conversation) responsesField(keyed *digest, f *headerField) {
	switch string(f.word) {
	case "tools", "instructions", "text":
		f.key(keyed)
		c.extra.add(estimate(f.raw, tokens.JSON))
	case "reasoning", "tool_choice", "parallel_tool_calls", "service_tier", "prompt_cache_key", "verbosity":
		f.key(keyed) // a provider separates caches by these
	case "previous_response_id", "conversation":
		if string(f.raw) != "null" {
			c.Thread, c.barrier = ThreadContinue, ServerHistory
		}
	case "prompt_cache_options":
		c.marked = is(rawjson.Get(f.raw, "mode"), "explicit")
	case "context_management":
		if string(f.raw) != "null" && string(f.raw) != "[]" && c.barrier == Open {
			c.barrier = ContextManagement
		}
	}
}

// item is an item of a request's input while it is read, before its type is known.
type item struct {
	kind   string
	role   Role
	id     span
	callID span
	name   span
	input  span // arguments of a call
	failed bool
}

func (c *Conversation) readItem(r *reader) {
	after := len(c.Messages) > 0 && c.Messages[len(c.Messages)-1].Role == Assistant
	m := c.add(r)
	m.at.start = r.pos()
	m.open()
	var it item
	for r.enter(); ; {
		name := r.name()
		if name == nil {
			break
		}
		switch word := decoded(name); string(word) {
		case "content":
			m.readContent(r, itemParts)
			m.digest.take(m.said)
			if m.content.end > 0 { // a string
				m.size.add(estimate(m.content.of(r.doc), tokens.Prose))
				m.content, m.Chars = span{}, 0
			}
		case "output":
			m.readContent(r, outputParts)
			m.digest.take(m.said)
		default:
			it.read(r, m, name, word)
		}
	}
	m.at.end = r.pos()
	switch {
	case isOutput(it.kind):
		m.readAsOutput(r, &it)
	case isAnswer(it.kind) || it.kind == "message" && it.role == Assistant || it.kind == "" && it.role == Assistant:
		m.Role, m.follows = Assistant, after
		m.addCall(r, &it)
		fallthrough
	default:
		m.keepOutput()
		if m.Role == Other && (it.kind == "message" || it.kind == "") {
			m.Role = it.role
		}
		m.special = specialOf(it.kind)
	}
}

// read reads a member that is no content.
func (it *item) read(r *reader, m *Message, name, word []byte) {
	at := r.value()
	raw := at.of(r.doc)
	m.digest.write(name)
	m.digest.write(raw)
	size := at.end - at.start
	isString := len(raw) > 0 && raw[0] == '"'
	switch string(word) {
	case "type":
		if isString {
			it.kind = kindName(raw)
		}
		return
	case "role":
		it.role = roleOf(raw)
		return
	case "id":
		if isString {
			it.id = at
		}
		return // not shown to a model
	case "call_id":
		if isString {
			it.callID = at
		}
	case "name":
		if isString {
			it.name = at
		}
	case "arguments", "input", "action":
		it.input = at
	case "status":
		it.failed = is(raw, "failed")
		return
	case "encrypted_content":
		size /= 4 // it decodes to fewer characters
	}
	m.size.add(idSize(size))
}

// kindName returns a type's name; known ones share one string.
func kindName(raw []byte) string {
	for _, known := range [...]string{"function_call_output", "function_call", "message", "reasoning", "custom_tool_call", "custom_tool_call_output"} {
		if is(raw, known) {
			return known
		}
	}
	return rawjson.Unquote(raw)
}

// isOutput recognizes items with the output of a client's tool.
func isOutput(kind string) bool {
	switch kind {
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output", "shell_call_output", "apply_patch_call_output":
		return true
	}
	return false
}

// isAnswer recognizes items made by a model.
func isAnswer(kind string) bool { return kind == "reasoning" || strings.HasSuffix(kind, "_call") }

func (m *Message) readAsOutput(r *reader, it *item) {
	m.Role = Tool
	switch {
	case it.callID.end > 0:
		m.CallID = r.shared(it.callID.of(r.doc))
	case it.id.end > 0:
		m.CallID = r.shared(it.id.of(r.doc))
	}
	m.IsError = m.IsError || it.failed
	if m.content.end == 0 {
		return
	}
	raw := m.content.of(r.doc)
	m.measureLater(r, tokens.Code)
	if head, output, ok := cutShellHead(raw); ok {
		m.IsError = m.IsError || saysExit(head)
		m.said = newDigest()
		m.said.write(output)
	}
}

// addCall adds an item's call, if it is one that a client answers.
func (m *Message) addCall(r *reader, it *item) {
	id := it.callID
	if id.end == 0 && it.kind == "local_shell_call" {
		id = it.id
	}
	if id.end == 0 {
		return
	}
	call := Call{ID: r.shared(id.of(r.doc)), arguments: it.input}
	if it.name.end > 0 {
		call.Name = r.shared(it.name.of(r.doc))
	}
	if r.addCall(call); r.err == nil {
		m.Calls = r.calls[len(r.calls)-1 : len(r.calls) : len(r.calls)]
	}
}

// keepOutput prevents cutting the output of an item that is no result of a client's tool.
func (m *Message) keepOutput() {
	if m.content.end > 0 {
		m.size.add(idSize(min(m.content.end-m.content.start, maxMedia)))
	}
	m.content, m.Chars, m.IsError = span{}, 0, false
}

// specialOf recognizes items that say something about the others.
func specialOf(kind string) special {
	switch kind {
	case "compaction", "context_compaction":
		return summary
	case "compaction_trigger":
		return trigger
	case "item_reference":
		return reference
	}
	return nothing
}

// maxShellHead is the maximum length of a result's head.
const maxShellHead = 512

// cutShellHead splits a shell's result into its head, which differs in every run, and the command's
// output:
//
//	Chunk ID: 4f
//	Wall time: 1.2500 seconds
//	Process exited with code 0
//	Output:
func cutShellHead(raw []byte) (head, output []byte, ok bool) {
	at := bytes.Index(raw[:min(len(raw), maxShellHead)], []byte(`\nOutput:\n`))
	if at < 0 {
		return nil, nil, false
	}
	head = raw[:at]
	if !bytes.Contains(head, []byte("Wall time: ")) && !bytes.Contains(head, []byte("Process exited with code ")) && !bytes.Contains(head, []byte("Exit code: ")) {
		return nil, nil, false
	}
	return head, raw[at+len(`\nOutput:\n`):], true
}

// saysExit reports whether the head of a shell's result says that the command failed.
func saysExit(head []byte) bool {
	for _, label := range []string{"Process exited with code ", "Exit code: "} {
		if _, code, ok := bytes.Cut(head, []byte(label)); ok {
			return len(code) > 0 && (code[0] != '0' || len(code) > 1 && isDigit(code[1]))
		}
	}
	return false
}

// isBadOutcome reports whether the outcome of a shell command is a failure.
func isBadOutcome(raw []byte) bool {
	if len(raw) == 0 || raw[0] != '{' {
		return false
	}
	if is(rawjson.Get(raw, "type"), "timeout") {
		return true
	}
	code := rawjson.Get(raw, "exit_code")
	return len(code) > 0 && string(code) != "0" && string(code) != "null"
}
