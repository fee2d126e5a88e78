package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"secateur/test/provider"
)

// messagesRequest is a validated request of Anthropic Messages.
type messagesRequest struct {
	Model        string            `json:"model"`
	MaxTokens    int               `json:"max_tokens"`
	System       json.RawMessage   `json:"system"`
	Tools        []json.RawMessage `json:"tools"`
	ToolChoice   json.RawMessage   `json:"tool_choice"`
	Messages     []message         `json:"messages"`
	Stream       bool              `json:"stream"`
	CacheControl *marker           `json:"cache_control"`
	Thinking     struct {
		Type    string `json:"type"`
		Binding struct {
			OnMismatch string `json:"prefix_mismatch_behavior"`
		} `json:"block_binding"`
	} `json:"thinking"`
	Thread *struct {
		Type     string `json:"type"`
		Previous string `json:"previous_message_id"`
	} `json:"thread"`
	OutputConfig json.RawMessage `json:"output_config"`

	prompt  prompt
	binding binding
	dropped []string // dropped thinking blocks, if the request asks for that
	turn    Turn
}

type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// block is a part of a message.
type block struct {
	Type         string          `json:"type"`
	Text         string          `json:"text"`
	ID           string          `json:"id"`
	Name         string          `json:"name"`
	ToolUseID    string          `json:"tool_use_id"`
	ToolName     string          `json:"tool_name"`
	Input        json.RawMessage `json:"input"`
	Content      json.RawMessage `json:"content"`
	Signature    string          `json:"signature"`
	Data         string          `json:"data"`
	CacheControl *marker         `json:"cache_control"`
}

// topLevel are the fields of a request, and the beta that each needs.
var topLevel = map[string]string{
	"model": "", "max_tokens": "", "system": "", "tools": "", "tool_choice": "", "messages": "", "stream": "", "thinking": "", "output_config": "",
	"metadata": "", "cache_control": "", "temperature": "", "top_p": "", "top_k": "", "stop_sequences": "", "service_tier": "", "container": "",
	"mcp_servers": "mcp-client-", "context_management": "context-management-2025-06-27", "thread": "message-threads-2026-08-12",
	"compaction": "compact-2026-09-04", "diagnostics": "", "fallbacks": "", "speed": "",
}

// problem is a 400.
func problem(format string, args ...any) error { return fmt.Errorf(format, args...) }

// readMessages reads and validates a request and, if bound, the binding of its thinking.
func readMessages(header http.Header, body []byte, bound bool) (*messagesRequest, error) {
	var names map[string]json.RawMessage
	if err := json.Unmarshal(body, &names); err != nil {
		return nil, problem("The request body is not valid JSON: %v", err)
	}
	betas := header.Values("Anthropic-Beta")
	for name := range names {
		beta, known := topLevel[name]
		if !known || beta != "" && !strings.Contains(strings.Join(betas, ","), beta) {
			return nil, problem("%s: Extra inputs are not permitted", name)
		}
	}
	m := &messagesRequest{}
	if err := json.Unmarshal(body, m); err != nil {
		return nil, problem("%v", err)
	}
	model, known := ModelNamed(m.Model)
	if !known {
		return nil, problem("model: %s", m.Model)
	}
	m.binding.binds = model.Binds && bound
	m.turn.Model = m.Model
	m.prompt.scope = fmt.Sprintf("%s %s %s %s", m.Model, m.ToolChoice, m.OutputConfig, m.Thinking.Type)
	m.readTools()
	if err := m.readSystem(); err != nil {
		return nil, err
	}
	if err := m.readTurns(); err != nil {
		return nil, err
	}
	return m, m.checkMarkers()
}

func (m *messagesRequest) readTools() {
	for _, raw := range m.Tools {
		var t struct {
			Name         string  `json:"name"`
			Defer        bool    `json:"defer_loading"`
			CacheControl *marker `json:"cache_control"`
		}
		_ = json.Unmarshal(raw, &t)
		m.turn.Tools = append(m.turn.Tools, t.Name)
		if !t.Defer { // not requested yet, so no part of the prefix
			m.prompt.add(raw).marker = t.CacheControl
			m.binding.so.add("tool", raw)
		}
	}
}

func (m *messagesRequest) readSystem() error {
	blocks, err := contentBlocks(m.System)
	if err != nil {
		return problem("system: %v", err)
	}
	for i, raw := range blocks {
		var b block
		if err := json.Unmarshal(raw, &b); err != nil || b.Type != "text" {
			return problem("system.%d: Input should be a text block", i)
		}
		// Removed by its position.
		if i == 0 && strings.HasPrefix(b.Text, "x-anthropic-billing-header") {
			continue
		}
		m.prompt.add(raw).marker = b.CacheControl
		m.binding.so.add("system", raw)
	}
	return nil
}

// readTurns reads the messages: calls and their results, thinking, markers.
func (m *messagesRequest) readTurns() error {
	var open []string // calls without results so far
	for i, msg := range m.Messages {
		blocks, err := contentBlocks(msg.Content)
		if err != nil {
			return problem("messages.%d: %v", i, err)
		}
		m.binding.so.add("role", json.RawMessage(`"`+msg.Role+`"`))
		switch msg.Role {
		case "user":
			if err := m.readUser(i, blocks, open); err != nil {
				return err
			}
			open = nil
		case "assistant":
			if len(open) > 0 {
				return problem("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s.", i, strings.Join(open, ", "))
			}
			if open, err = m.readAssistant(i, blocks); err != nil {
				return err
			}
		case "system":
			for _, raw := range blocks {
				var b block
				_ = json.Unmarshal(raw, &b)
				m.prompt.add(raw).marker = b.CacheControl
				m.binding.so.add("", raw)
			}
		default:
			return problem("messages.%d.role: Input should be 'user', 'assistant' or 'system'", i)
		}
	}
	if len(open) > 0 {
		return problem("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s.", len(m.Messages)-1, strings.Join(open, ", "))
	}
	if m.CacheControl != nil && len(m.prompt.positions) > 0 {
		m.prompt.positions[len(m.prompt.positions)-1].marker = m.CacheControl
	}
	return nil
}

func (m *messagesRequest) readUser(i int, blocks []json.RawMessage, open []string) error {
	m.turn.Results, m.turn.User = nil, ""
	waiting := slices.Clone(open)
	other := false
	for j, raw := range blocks {
		var b block
		if err := json.Unmarshal(raw, &b); err != nil {
			return problem("messages.%d.content.%d: %v", i, j, err)
		}
		at := m.prompt.add(raw)
		at.marker = b.CacheControl
		switch b.Type {
		case "tool_result":
			at.run = "tool_result"
			k := slices.Index(waiting, b.ToolUseID)
			if m.Thread == nil && k < 0 {
				return problem("messages.%d.content.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", i, j, b.ToolUseID)
			}
			if other {
				return problem("messages.%d.content.%d: `tool_result` blocks must come first", i, j)
			}
			if k >= 0 {
				waiting = slices.Delete(waiting, k, k+1)
			}
			if err := m.checkReferences(b.Content); err != nil {
				return problem("messages.%d.content.%d.%v", i, j, err)
			}
			m.turn.Results = append(m.turn.Results, resultText(b.Content))
		case "text":
			other = true
			m.turn.User = b.Text
		case "thinking", "redacted_thinking":
			return problem("messages.%d.content.%d: `%s` blocks are only allowed in `assistant` messages", i, j, b.Type)
		default:
			other = true
		}
		m.binding.so.add("", raw)
	}
	if len(waiting) > 0 {
		return problem("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s.", i-1, strings.Join(waiting, ", "))
	}
	return nil
}

// checkReferences requires the tools that a result refers to.
func (m *messagesRequest) checkReferences(content json.RawMessage) error {
	if !bytes.Contains(content, []byte("tool_reference")) {
		return nil
	}
	parts, _ := contentBlocks(content)
	for k, raw := range parts {
		var b block
		if json.Unmarshal(raw, &b) == nil && b.Type == "tool_reference" && !slices.Contains(m.turn.Tools, b.ToolName) {
			return problem("content.%d: Tool reference '%s' not found in available tools", k, b.ToolName)
		}
	}
	return nil
}

func (m *messagesRequest) readAssistant(i int, blocks []json.RawMessage) (open []string, err error) {
	var run []signature // thinking of this message
	for j, raw := range blocks {
		var b block
		if err := json.Unmarshal(raw, &b); err != nil {
			return nil, problem("messages.%d.content.%d: %v", i, j, err)
		}
		where := fmt.Sprintf("messages.%d.content.%d", i, j)
		at := m.prompt.add(raw)
		at.marker = b.CacheControl
		switch b.Type {
		case "thinking", "redacted_thinking":
			if b.CacheControl != nil {
				return nil, problem("%s: `cache_control` cannot be set on `%s` blocks", where, b.Type)
			}
			signed := b.Signature + b.Data
			if r := m.binding.check(where, b.Type, signed); r != nil {
				if m.Thinking.Binding.OnMismatch != "drop_block" || !strings.Contains(r.why, "bound") {
					return nil, r
				}
				m.dropped = append(m.dropped, where)
			}
			s, _ := parseSignature(signed)
			run = append(run, s)
			continue // no part of the prefix
		case "tool_use":
			at.run = "tool_use"
			open = append(open, b.ID)
			m.turn.Calls++
		case "server_tool_use":
			if !strings.HasPrefix(b.ID, "srvtoolu_") || b.Name == "" || len(b.Input) == 0 {
				return nil, problem("%s: `server_tool_use` blocks need `id`, `name` and `input`", where)
			}
		}
		m.binding.so.add("", raw)
	}
	return open, m.checkRun(i, run)
}

// checkRun checks that the thinking of the newest turn came back whole and in order.
func (m *messagesRequest) checkRun(i int, run []signature) error {
	if i < len(m.Messages)-2 || len(run) == 0 {
		return nil
	}
	for k, s := range run {
		number := fmt.Sprintf("%d/%d", k+1, len(run))
		if s.answer != run[0].answer || s.number != number {
			return problem("messages.%d.content.%d: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.", i, k)
		}
	}
	return nil
}

func (m *messagesRequest) checkMarkers() error {
	n, short := 0, false
	for _, p := range m.prompt.positions {
		if p.marker == nil {
			continue
		}
		if n++; p.marker.hour() && short {
			return problem("a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block")
		}
		short = short || !p.marker.hour()
	}
	if n > 4 {
		return problem("A maximum of 4 blocks with cache_control may be provided. Found %d.", n)
	}
	return nil
}

// contentBlocks returns the parts of a content: a string is one text block, absent is none.
func contentBlocks(raw json.RawMessage) ([]json.RawMessage, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	if raw[0] == '"' {
		return []json.RawMessage{json.RawMessage(`{"type":"text","text":` + string(raw) + `}`)}, nil
	}
	var list []json.RawMessage
	err := json.Unmarshal(raw, &list)
	return list, err
}

// resultText returns the text of a result.
func resultText(raw json.RawMessage) string {
	parts, _ := contentBlocks(raw)
	var b strings.Builder
	for _, raw := range parts {
		var p block
		_ = json.Unmarshal(raw, &p)
		b.WriteString(p.Text)
	}
	return b.String()
}

// credentials says why a request is not from a customer.
func credentials(h http.Header) (int, string) {
	key, bearer := h.Get("X-Api-Key"), strings.TrimPrefix(h.Get("Authorization"), "Bearer ")
	switch {
	case key == "" && bearer == "":
		return http.StatusUnauthorized, "x-api-key header is required"
	case key != "" && bearer != "" && key != bearer:
		return http.StatusUnauthorized, "conflicting credentials"
	case strings.HasPrefix(key, "sk-ant-oat"):
		return http.StatusUnauthorized, "invalid x-api-key"
	case strings.HasPrefix(bearer, "sk-ant-oat") && !strings.Contains(strings.Join(h.Values("Anthropic-Beta"), ","), "oauth-2025-04-20"):
		return http.StatusUnauthorized, "OAuth authentication is currently not supported."
	case h.Get("Anthropic-Version") == "":
		return http.StatusBadRequest, "anthropic-version: header is required"
	}
	return 0, ""
}

// kinds are the names of errors.
var kinds = map[int]string{400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 500: "api_error", 529: "overloaded_error"}

func messagesError(status int, text string) output {
	b, _ := json.Marshal(map[string]any{"type": "error", "error": map[string]string{"type": kinds[status], "message": text}, "request_id": "req_1"})
	return output{status: status, body: b}
}

func (p *Provider) messages(h http.Header, body []byte) output {
	if status, text := credentials(h); status != 0 {
		return messagesError(status, text)
	}
	m, err := readMessages(h, body, true)
	if err != nil {
		return messagesError(http.StatusBadRequest, err.Error())
	}
	if m.MaxTokens == 0 {
		return messagesError(http.StatusBadRequest, "max_tokens: Field required")
	}
	if m.Thread != nil && m.Thread.Type == "continue" && !p.threads[m.Thread.Previous] {
		return messagesError(http.StatusNotFound, "thread: previous_message_id not found")
	}
	counts, err := p.paid.take(m.Model, h.Get(provider.Header), m.prompt, p.now())
	if err != nil {
		return messagesError(http.StatusBadRequest, err.Error())
	}
	p.answers++
	a := messagesAnswer{id: fmt.Sprintf("msg_%04d", p.answers), model: m.Model, counts: counts, dropped: m.dropped}
	if m.Thread != nil {
		if p.threads == nil {
			p.threads = map[string]bool{}
		}
		p.threads[a.id] = true
	}
	a.write(p.Say(m.turn), m.binding)
	if m.Stream {
		return output{status: http.StatusOK, counts: counts, events: a.events(), failed: event("error", map[string]any{"type": "error", "error": map[string]string{"type": "overloaded_error", "message": "Overloaded"}})}
	}
	return output{status: http.StatusOK, counts: counts, body: a.whole()}
}

func (p *Provider) countTokens(h http.Header, body []byte) output {
	if status, text := credentials(h); status != 0 {
		return messagesError(status, text)
	}
	m, err := readMessages(h, body, true)
	if err != nil {
		return messagesError(http.StatusBadRequest, err.Error())
	}
	return output{status: http.StatusOK, body: fmt.Appendf(nil, `{"input_tokens":%d}`, m.prompt.total())}
}
