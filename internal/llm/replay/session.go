package replay

import (
	"bytes"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"secateur/internal/llm/chat"
)

// Session is one recorded conversation: its requests in order.
type Session struct {
	ID       string
	Model    string
	format   chat.Format
	requests []request
	perToken float64   // characters
	hidden   float64   // tokens of each request that are not in its messages
	measured bool      // by the one who recorded them
	counted  float64   // tokens of the first request as its provider counted them; 0: not recorded
	tools    []byte    // what stands before the messages
	timed    bool      // the requests' times are known
	start    time.Time // of the first request; zero: not recorded

	// Called maps calls to tool names, in a session made from its last request.
	called    map[string]string
	continues bool // the server has the earlier messages
}

// request is one request of a session.
type request struct {
	list       []jsontext.Value // messages or items
	head       []byte           // the other members of the body, as "name":value, joined by commas
	first, all cacheControl     // on the text before the messages, on the request itself
	at         float64          // seconds
	counted    float64          // tokens of its prompt as the provider counted them; 0: not recorded
	answer     []jsontext.Value // what was answered; nil if not recorded
	asCame     []byte           // the whole body, where its bytes are to go out as they came; nil: it is written anew
}

// day is the day of the first request (UTC), such as "2026-09-30"; "": not recorded.
func (s *Session) day() string {
	if s.start.IsZero() {
		return ""
	}
	return s.start.UTC().Format(time.DateOnly)
}

// recorded is a line of a file of sessions.
type recorded struct {
	ID            string           `json:"id"`
	Model         string           `json:"model"`
	Messages      []jsontext.Value `json:"messages"`
	Tools         jsontext.Value   `json:"tools"`
	Offsets       []float64        `json:"request_offsets_s"`
	CharsPerToken float64          `json:"chars_per_token"`
	PrefixTokens  float64          `json:"prefix_tokens"`
	Usage         [][]float64      `json:"recorded_usage"` // of each request: uncached, written, read, output
	Started       string           `json:"started"`        // RFC 3339; "": not recorded
}

// defaultPerToken is the number of characters per token if none was recorded.
const defaultPerToken = 4

// session splits a whole conversation into requests. Each request ends where the assistant's answer
// begins.
func (rec *recorded) session() Session {
	s := Session{ID: rec.ID, Model: rec.Model, perToken: rec.CharsPerToken, hidden: rec.PrefixTokens}
	s.measured, s.tools = rec.PrefixTokens > 0, rec.Tools
	if s.perToken <= 0 {
		s.perToken = defaultPerToken
	}
	s.timed = len(rec.Offsets) > 0
	if at, err := time.Parse(time.RFC3339, rec.Started); err == nil {
		s.start = at
	}
	for i, m := range rec.Messages {
		if role(m) != "assistant" {
			continue
		}
		q := request{list: rec.Messages[:i], head: rec.head(), answer: rec.Messages[i : i+1]}
		if n := len(s.requests); n < len(rec.Offsets) {
			q.at = rec.Offsets[n]
		}
		if n := len(s.requests); n < len(rec.Usage) && len(rec.Usage[n]) >= 3 {
			q.counted = rec.Usage[n][0] + rec.Usage[n][1] + rec.Usage[n][2]
			if n == 0 && !s.measured {
				s.counted = q.counted
			}
		}
		s.requests = append(s.requests, q)
	}
	return s
}

func role(raw jsontext.Value) string {
	var m struct {
		Role string `json:"role"`
	}
	if json.Unmarshal(raw, &m, lenient) != nil {
		return ""
	}
	return m.Role
}

func (rec *recorded) head() []byte {
	h := modelMember(rec.Model)
	if len(rec.Tools) > 0 {
		h = append(h, `,"tools":`...)
		h = append(h, rec.Tools...)
	}
	return h
}

func modelMember(model string) []byte {
	h, _ := jsontext.AppendQuote([]byte(`"model":`), model)
	return h
}

// listName returns a format's name for its list of messages.
func listName(f chat.Format) string {
	if f == chat.Responses {
		return "input"
	}
	return "messages"
}

// body writes the request as a client would have.
func (q *request) body(dst []byte, f chat.Format) []byte {
	if q.asCame != nil {
		return append(dst, q.asCame...)
	}
	dst = append(dst, '{')
	dst = append(dst, q.head...)
	dst = append(dst, `,"`+listName(f)+`":[`...)
	for i, m := range q.list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, bytes.TrimSpace(m)...)
	}
	return append(dst, "]}"...)
}
