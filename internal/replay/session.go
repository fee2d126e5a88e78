package replay

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/klauspost/compress/gzip"
)

// Session is one recorded conversation: the requests in the order they were made.
type Session struct {
	ID       string
	Model    string
	requests []request
	perToken float64 // characters
	hidden   float64 // tokens of each request that are not in its messages
	timed    bool    // the requests' times are known
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

// ReadFile reads the sessions of a file, "-" being standard input: one JSON object a line, plain or gzipped. An
// object with an id is a whole session; the objects without one are the bodies of
// requests, one after the other, and make up one session, and so does a list of
// such bodies.
func ReadFile(path string) ([]Session, error) {
	f := os.Stdin // "-"
	var err error
	if path != "-" {
		if f, err = os.Open(path); err != nil { //nolint:gosec // whoever types the command names the file
			return nil, err
		}
		defer f.Close()
	}
	var r io.Reader = bufio.NewReaderSize(f, 1<<20)
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(r); err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
	}
	sessions, err := Read(r, filepath.Base(path))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	for i := range sessions {
		if len(sessions[i].requests) > 0 && slices.ContainsFunc(sessions[i].requests, func(q request) bool { return len(q.messages) > 0 }) {
			return sessions, nil
		}
	}
	if len(sessions) == 0 {
		return nil, fmt.Errorf("read %s: it is empty", path)
	}
	return nil, fmt.Errorf("read %s: JSON, but no conversation: no object in it has messages of a chat completion request", path)
}

// Read reads sessions as ReadFile does. Requests that belong to no session are given
// the name.
func Read(r io.Reader, name string) ([]Session, error) {
	var sessions []Session
	bodies := Session{ID: name, perToken: defaultPerToken}
	d := jsontext.NewDecoder(r, lenient)
	for {
		v, err := d.ReadValue()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		items := []jsontext.Value{v.Clone()}
		if v.Kind() == '[' {
			if err := json.Unmarshal(v, &items, lenient); err != nil {
				return nil, err
			}
		}
		for _, item := range items {
			var rec recorded
			if err := json.Unmarshal(item, &rec, lenient); err != nil {
				return nil, fmt.Errorf("value %d: %w", len(sessions)+len(bodies.requests)+1, err)
			}
			if rec.ID != "" {
				sessions = append(sessions, rec.session())
				continue
			}
			bodies.Model = rec.Model
			bodies.hidden = max(bodies.hidden, float64(len(rec.Tools))/defaultPerToken)
			bodies.requests = append(bodies.requests, request{messages: rec.Messages, head: rec.head()})
		}
	}
	if len(bodies.requests) > 0 {
		sessions = append(sessions, bodies)
	}
	return sessions, nil
}

// session makes the requests of a whole conversation: each ends where the
// assistant's answer begins.
func (rec *recorded) session() Session {
	s := Session{ID: rec.ID, Model: rec.Model, perToken: rec.CharsPerToken, hidden: rec.PrefixTokens}
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
