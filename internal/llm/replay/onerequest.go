package replay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"secateur/internal/llm/chat"
)

// ErrTooLong is returned by ReadRequest for a conversation that takes too long to play
// interactively.
var ErrTooLong = errors.New("the conversation is too long to be played while you wait")

// maxWork bounds the work for one request: the bytes of all requests before it, plus messageWork
// for each message.
const (
	maxWork     = 512 << 20
	messageWork = 256
)

// ReadRequest reads the body of one request and rebuilds the session that it ends. Each answer in
// its list implies one earlier request. Errors name the format that was read, and the line or the
// member.
func ReadRequest(body []byte) (*Session, error) {
	v, err := oneObject(body)
	if err != nil {
		return nil, fmt.Errorf("line %w", err)
	}
	shape, o := shapeOf(v)
	switch shape {
	case requestBody:
	case wholeSession, transcriptLine, rolloutLine:
		return nil, errors.New("this is a recorded session or a line of one, not the body of a request")
	default:
		return nil, errors.New(found(v) + ", not the body of a request to chat completions, Messages or Responses")
	}
	format := o.format()
	s, err := readOne(v, o)
	if err != nil {
		return nil, fmt.Errorf("read as a request in the format %s: %w", format, err)
	}
	s.unfold()
	if s.tooLong(len(body)) {
		return nil, ErrTooLong
	}
	return s, nil
}

// oneObject returns text as one strict JSON object. Errors begin with the line.
func oneObject(text []byte) (jsontext.Value, error) {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	v, err := d.ReadValue()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("1: there is no request")
	}
	if err != nil {
		return nil, noJSON(text, d, err)
	}
	v = v.Clone()
	if v.Kind() != '{' {
		return nil, fmt.Errorf("%d: not the body of a request: found %s", lineOf(text, d.InputOffset()-int64(len(v))), excerpt(v))
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%d: something follows the request; one at a time is played", lineOf(text, d.InputOffset()))
	}
	return v, nil
}

// readOne makes a session with this one request.
func readOne(v jsontext.Value, o outline) (*Session, error) {
	var all bodies
	if err := all.add(v, o); err != nil {
		if e, ok := errors.AsType[*json.SemanticError](err); ok {
			return nil, fmt.Errorf("%s: a list is expected, found %s", e.JSONPointer, e.JSONKind)
		}
		return nil, err
	}
	s := &all.sessions()[0]
	q := &s.requests[0]
	name := listName(s.format)
	if len(q.list) == 0 {
		return nil, fmt.Errorf("/%s: nothing is in it", name)
	}
	for i, m := range q.list {
		if m.Kind() != '{' {
			return nil, fmt.Errorf("/%s/%d: an object is expected, found %s", name, i, excerpt(m))
		}
		if s.format != chat.Responses && role(m) == "" {
			return nil, fmt.Errorf("/%s/%d/role: there is none", name, i)
		}
	}
	conv, err := s.format.Read(v)
	if err != nil {
		return nil, err
	}
	if len(conv.Messages) > 0 { // otherwise the list was a string
		q.asCame = v
	}
	s.continues, s.called = conv.Thread == chat.ThreadContinue, make(map[string]string)
	for i := range conv.Messages {
		for _, call := range conv.Messages[i].Calls {
			s.called[call.ID] = call.Name
		}
	}
	return s, nil
}

// unfold inserts the earlier requests: one for each answer in the list.
func (s *Session) unfold() {
	last := s.requests[0]
	if s.continues {
		return
	}
	earlier := last.earlier(s.format)
	var before []request
	start := 0 // where the current answer starts; 0: not within an answer
	for i, m := range last.list {
		answers := isAnswer(kindAndRole(m))
		switch {
		case answers && start == 0 && i > 0:
			q := earlier
			q.list, start = slices.Clip(last.list[:i]), i
			before = append(before, q)
		case !answers && start > 0:
			before[len(before)-1].answer, start = slices.Clip(last.list[start:i]), 0
		}
	}
	if start > 0 { // the client began the last answer; the last request asks for the rest
		before = before[:len(before)-1]
	}
	s.requests = slices.Concat(before, s.requests)
}

// earlier returns an earlier request of the same client, without its list. A client that marks
// messages for the cache moves its marks along. So each of its requests was marked at its end.
func (q *request) earlier(f chat.Format) request {
	e := request{head: q.head, first: q.first, all: q.all}
	if f != chat.Messages || e.all.mark {
		return e
	}
	for _, p := range newRenderer(characters).pieces(f, q.list) {
		if p.mark {
			e.all = cacheControl{mark: true, hour: p.hour}
		}
	}
	if e.all.mark {
		e.head = slices.Concat(e.head, []byte(`,"cache_control":`+e.all.written()))
	}
	return e
}

// tooLong reports whether playing the session takes too long for a waiting user.
func (s *Session) tooLong(size int) bool {
	n := len(s.requests)
	return n*(size+messageWork*len(s.requests[n-1].list)) > maxWork
}

func kindAndRole(raw jsontext.Value) (kind, role string) {
	var m struct {
		Type string `json:"type"`
		Role string `json:"role"`
	}
	_ = json.Unmarshal(raw, &m, lenient) // a message without them is no answer
	return m.Type, m.Role
}
