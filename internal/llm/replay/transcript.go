package replay

import (
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"secateur/internal/llm/chat"
)

// transcripts collects the lines that Claude Code writes below its projects folder. Each user
// message and each block of an answer is one line, in order of time, among other lines. A
// sub-agent's lines form a separate conversation. A compaction starts a new one.
type transcripts struct {
	name  string
	order []string
	of    map[string]*transcript // by session and sub-agent
	done  []Session
}

// transcript is a conversation as read so far.
type transcript struct {
	Session

	parts    int // conversations before it that were compacted
	messages []told
	raw      []jsontext.Value // the messages of requests, as they are sent
	at       map[string]int   // number of messages at each line
	control  jsontext.Value   // the context_management of its requests
	hour     bool             // its prompts were cached for an hour
}

// told is a message that may get more blocks.
type told struct {
	role, id string
	blocks   []jsontext.Value
}

type line struct {
	Type        string `json:"type"`
	UUID        string `json:"uuid"`
	Parent      string `json:"parentUuid"`
	SessionID   string `json:"sessionId"`
	AgentID     string `json:"agentId"`
	IsSidechain bool   `json:"isSidechain"`
	IsSummary   bool   `json:"isCompactSummary"`
	Timestamp   string `json:"timestamp"`
	Message     *struct {
		ID      string         `json:"id"`
		Role    string         `json:"role"`
		Model   string         `json:"model"`
		Content jsontext.Value `json:"content"`
		Usage   *struct {
			Input   float64 `json:"input_tokens"`
			Read    float64 `json:"cache_read_input_tokens"`
			Written float64 `json:"cache_creation_input_tokens"`
			By      struct {
				Hour float64 `json:"ephemeral_1h_input_tokens"`
			} `json:"cache_creation"`
		} `json:"usage"`
	} `json:"message"`
	Params *struct {
		ContextManagement jsontext.Value `json:"context_management"`
	} `json:"params"`
}

// add takes one line.
func (ts *transcripts) add(v jsontext.Value) error {
	var l line
	if err := json.Unmarshal(v, &l, lenient); err != nil {
		return err
	}
	name := l.SessionID
	if l.IsSidechain {
		name += "/" + l.AgentID
	}
	t := ts.of[name]
	if t == nil {
		if ts.of == nil {
			ts.of = map[string]*transcript{}
		}
		t = &transcript{Session: Session{ID: name, format: chat.Messages, perToken: defaultPerToken, timed: true}, at: map[string]int{}}
		if name == "" {
			t.ID = ts.name
		}
		ts.of[name] = t
		ts.order = append(ts.order, name)
	}
	if l.IsSummary && len(t.requests) > 0 {
		ts.done = append(ts.done, t.session())
		*t = transcript{Session: Session{ID: name, format: chat.Messages, perToken: defaultPerToken, timed: true}, at: map[string]int{}, parts: t.parts + 1, control: t.control}
	}
	t.add(&l)
	return nil
}

func (ts *transcripts) sessions() []Session {
	all := ts.done
	for _, name := range ts.order {
		if t := ts.of[name]; len(t.requests) > 0 {
			all = append(all, t.session())
		}
	}
	return all
}

// add takes one line of this conversation.
func (t *transcript) add(l *line) {
	switch {
	case l.Type == "user" && l.Message != nil:
		t.user(l)
	// synthetic: an error shown to the user.
	case l.Type == "assistant" && l.Message != nil && l.Message.Model != "<synthetic>":
		t.assistant(l)
	case l.Type == "api-request" && l.Params != nil && l.Params.ContextManagement.Kind() == '{':
		t.control = l.Params.ContextManagement.Clone()
	}
	if l.UUID != "" {
		t.at[l.UUID] = len(t.messages)
	}
}

func (t *transcript) user(l *line) {
	blocks := blocksOf(l.Message.Content)
	if n, known := t.at[l.Parent]; known && n < len(t.messages) && !hasResult(blocks) {
		t.messages = slices.Clip(t.messages[:n]) // the user went back
		t.raw = slices.Clip(t.raw[:min(n, len(t.raw))])
	}
	if n := len(t.messages); n > 0 && t.messages[n-1].role == "user" {
		t.messages[n-1].blocks = append(t.messages[n-1].blocks, blocks...)
		t.raw = slices.Clip(t.raw[:min(n-1, len(t.raw))])
		return
	}
	t.messages = append(t.messages, told{role: "user", blocks: blocks})
}

func (t *transcript) assistant(l *line) {
	blocks := blocksOf(l.Message.Content)
	for i, m := range slices.Backward(t.messages) {
		// A later block of the same answer.
		if m.role == "assistant" && m.id == l.Message.ID && m.id != "" {
			t.messages[i].blocks = append(t.messages[i].blocks, blocks...)
			return
		}
	}
	t.ask(l)
	t.messages = append(t.messages, told{role: "assistant", id: l.Message.ID, blocks: blocks})
}

// ask adds the request to which the answer on this line belongs.
func (t *transcript) ask(l *line) {
	t.write()
	t.Model = l.Message.Model
	q := request{list: slices.Clip(t.raw), first: cacheControl{mark: true}, all: cacheControl{mark: true}}
	if at, err := time.Parse(time.RFC3339, l.Timestamp); err == nil {
		if t.start.IsZero() {
			t.start = at
		}
		q.at = at.Sub(t.start).Seconds()
	}
	if u := l.Message.Usage; u != nil {
		q.counted = u.Input + u.Read + u.Written
		if len(t.requests) == 0 {
			t.counted = q.counted
		}
		t.hour = t.hour || u.By.Hour > 0
	}
	t.requests = append(t.requests, q)
}

// write encodes the messages read so far. Messages after the last request are its answer.
func (t *transcript) write() {
	for i := len(t.raw); i < len(t.messages); i++ {
		m := t.messages[i]
		b := []byte(`{"role":"` + m.role + `","content":[`)
		for j, block := range m.blocks {
			if j > 0 {
				b = append(b, ',')
			}
			b = append(b, block...)
		}
		t.raw = append(t.raw, append(b, "]}"...))
		if n := len(t.requests); m.role == "assistant" && n > 0 && t.requests[n-1].answer == nil {
			t.requests[n-1].answer = t.raw[i : i+1]
		}
	}
}

// session ends the conversation.
func (t *transcript) session() Session {
	t.write()
	if t.parts > 0 {
		t.ID = fmt.Sprintf("%s#%d", t.ID, t.parts)
	}
	control := cacheControl{mark: true, hour: t.hour}.written()
	head := fmt.Appendf(modelMember(t.Model), `,"system":[{"type":"text","text":"","cache_control":%s}],"cache_control":%s`, control, control)
	if len(t.control) > 0 {
		head = append(append(head, `,"context_management":`...), t.control...)
	}
	for i := range t.requests {
		q := &t.requests[i]
		q.head, q.first.hour, q.all.hour = head, t.hour, t.hour
	}
	return t.Session
}

// blocksOf returns the blocks of a content.
func blocksOf(content jsontext.Value) (blocks []jsontext.Value) {
	if content.Kind() == '"' {
		return []jsontext.Value{jsontext.Value(`{"type":"text","text":` + string(content) + `}`)}
	}
	if json.Unmarshal(content, &blocks, lenient) != nil {
		return nil
	}
	return blocks
}

func hasResult(blocks []jsontext.Value) bool {
	return slices.ContainsFunc(blocks, func(b jsontext.Value) bool {
		var t struct {
			Type string `json:"type"`
		}
		return json.Unmarshal(b, &t, lenient) == nil && t.Type == "tool_result"
	})
}
