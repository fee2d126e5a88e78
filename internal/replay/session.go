package replay

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Session is one recorded conversation: the requests in the order they were made.
type Session struct {
	ID       string
	Model    string
	requests []request
	perToken float64 // characters
	hidden   float64 // tokens of each request that are not in its messages
	measured bool    // by the one who recorded them
	tools    []byte
	timed    bool // the requests' times are known
}

// request is one request of a session.
type request struct {
	messages []jsontext.Value
	head     []byte  // the other members of the body, as "name":value, joined by commas
	at       float64 // seconds
	answer   []byte  // the message that was the answer; nil if not recorded
}

// recorded is a line of a file of sessions, or a request's body.
type recorded struct {
	ID            string           `json:"id"`
	Model         string           `json:"model"`
	Messages      []jsontext.Value `json:"messages"`
	Tools         jsontext.Value   `json:"tools"`
	Offsets       []float64        `json:"request_offsets_s"`
	CharsPerToken float64          `json:"chars_per_token"`
	PrefixTokens  float64          `json:"prefix_tokens"`
}

// defaultPerToken is how many characters a token has where nobody has counted.
const defaultPerToken = 4

// session makes the requests of a whole conversation: each ends where the
// assistant's answer begins.
func (rec *recorded) session() Session {
	s := Session{ID: rec.ID, Model: rec.Model, perToken: rec.CharsPerToken, hidden: rec.PrefixTokens}
	s.measured, s.tools = rec.PrefixTokens > 0, rec.Tools
	if s.perToken <= 0 {
		s.perToken = defaultPerToken
	}
	s.timed = len(rec.Offsets) > 0
	for i, m := range rec.Messages {
		var msg struct {
			Role string `json:"role"`
		}
		if json.Unmarshal(m, &msg, lenient) != nil || msg.Role != "assistant" {
			continue
		}
		q := request{messages: rec.Messages[:i], head: rec.head(), answer: m}
		if n := len(s.requests); n < len(rec.Offsets) {
			q.at = rec.Offsets[n]
		}
		s.requests = append(s.requests, q)
	}
	return s
}

func (rec *recorded) head() []byte {
	h := []byte(`"model":`)
	h, _ = jsontext.AppendQuote(h, rec.Model)
	if len(rec.Tools) > 0 {
		h = append(h, `,"tools":`...)
		h = append(h, rec.Tools...)
	}
	return h
}

// body writes the request as a client would have.
func (q *request) body(dst []byte) []byte {
	dst = append(dst, '{')
	dst = append(dst, q.head...)
	dst = append(dst, `,"messages":[`...)
	for i, m := range q.messages {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, bytes.TrimSpace(m)...)
	}
	return append(dst, "]}"...)
}
