package replay

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"secateur/internal/llm/chat"
)

// rollout collects the lines that Codex writes below its sessions folder. They contain every item
// of the conversation as sent, among other lines. A compaction starts a new conversation.
type rollout struct {
	Session

	name  string
	items []jsontext.Value
	said  int // number of items when the current answer began; 0: not within an answer
	parts int
	done  []Session
}

// add takes one line.
func (r *rollout) add(v jsontext.Value) error {
	var l struct {
		Timestamp string         `json:"timestamp"`
		Type      string         `json:"type"`
		Payload   jsontext.Value `json:"payload"`
	}
	if err := json.Unmarshal(v, &l, lenient); err != nil {
		return err
	}
	var p struct {
		ID          string           `json:"id"`
		Model       string           `json:"model"`
		Type        string           `json:"type"`
		Role        string           `json:"role"`
		Replacement []jsontext.Value `json:"replacement_history"`
		Info        *struct {
			Last struct {
				Input float64 `json:"input_tokens"`
			} `json:"last_token_usage"`
		} `json:"info"`
		Base struct {
			Text string `json:"text"`
		} `json:"base_instructions"`
	}
	if err := json.Unmarshal(l.Payload, &p, lenient); err != nil {
		return err
	}
	switch l.Type {
	case "session_meta":
		r.ID, r.tools = p.ID, []byte(p.Base.Text)
	case "turn_context":
		r.Model = p.Model
	case "response_item":
		r.item(l.Payload.Clone(), p.Type, p.Role, l.Timestamp)
	case "compacted":
		r.compact(p.Replacement)
	case "event_msg":
		if n := len(r.requests); p.Type == "token_count" && p.Info != nil && n > 0 {
			r.requests[n-1].counted = p.Info.Last.Input
			if n == 1 && r.counted == 0 {
				r.counted = p.Info.Last.Input
			}
		}
	}
	return nil
}

// item takes one item. The first item of an answer implies a request.
func (r *rollout) item(raw jsontext.Value, kind, role, timestamp string) {
	answers := isAnswer(kind, role)
	switch {
	case answers && r.said == 0:
		q := request{list: slices.Clip(r.items)}
		if at, err := time.Parse(time.RFC3339, timestamp); err == nil {
			if r.start.IsZero() {
				r.start = at
			}
			q.at = at.Sub(r.start).Seconds()
		}
		r.requests = append(r.requests, q)
		r.said = len(r.items)
	case !answers:
		r.answered()
	}
	r.items = append(r.items, raw)
}

// isAnswer reports whether a model wrote the message or item.
func isAnswer(kind, role string) bool {
	return role == "assistant" || kind == "reasoning" || strings.HasSuffix(kind, "_call")
}

// answered ends an answer.
func (r *rollout) answered() {
	if n := len(r.requests); r.said > 0 && n > 0 {
		r.requests[n-1].answer = slices.Clip(r.items[r.said:])
	}
	r.said = 0
}

func (r *rollout) compact(replacement []jsontext.Value) {
	r.end()
	meta := r.Session
	r.Session = Session{ID: meta.ID, Model: meta.Model, tools: meta.tools}
	r.items = nil
	for _, it := range replacement {
		r.items = append(r.items, it.Clone())
	}
	r.parts++
}

// end makes a session of the lines since the last compaction.
func (r *rollout) end() {
	r.answered()
	if len(r.requests) == 0 {
		return
	}
	s := r.Session
	if s.ID == "" {
		s.ID = r.name
	}
	if r.parts > 0 {
		s.ID = fmt.Sprintf("%s#%d", s.ID, r.parts)
	}
	s.format, s.perToken, s.timed = chat.Responses, defaultPerToken, true
	for i := range s.requests {
		s.requests[i].head = modelMember(s.Model)
	}
	r.done = append(r.done, s)
}

func (r *rollout) sessions() []Session {
	r.end()
	r.requests = nil
	return r.done
}
