package replay

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"secateur/internal/llm/chat"
)

// bodies collects request bodies. Bodies of the same format form one conversation.
type bodies struct {
	name string
	of   [3]Session // by format
}

// add appends the body of a request.
func (b *bodies) add(v jsontext.Value, o outline) error {
	f := o.format()
	s := &b.of[f]
	q := request{}
	if f == chat.Responses && o.Input.Kind() == '"' {
		q.list = []jsontext.Value{jsontext.Value(`{"type":"message","role":"user","content":` + string(o.Input) + `}`)}
	} else {
		var body struct {
			Messages []jsontext.Value `json:"messages"`
			Input    []jsontext.Value `json:"input"`
		}
		if err := json.Unmarshal(v, &body, lenient); err != nil {
			return err
		}
		q.list = slices.Concat(body.Messages, body.Input)
	}
	var before []byte
	q.head, before = q.members(v, f)
	if len(o.Model) > 0 {
		// A value that is no string counts as no name.
		_ = json.Unmarshal(o.Model, &s.Model, lenient)
	}
	s.ID, s.format, s.perToken = b.name, f, defaultPerToken
	s.hidden = max(s.hidden, float64(len(before))/defaultPerToken)
	if len(before) > len(s.tools) {
		s.tools = before
	}
	s.requests = append(s.requests, q)
	return nil
}

// members returns the members other than the list of messages, and the part of them that a model
// reads before it.
func (q *request) members(v jsontext.Value, f chat.Format) (head, before []byte) {
	d := jsontext.NewDecoder(bytes.NewReader(v), lenient)
	_, _ = d.ReadToken() // v is an object
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			break
		}
		word := name.String()
		value, err := d.ReadValue()
		if err != nil {
			break
		}
		switch word {
		case listName(f):
			continue
		case "tools", "system", "instructions":
			before = append(before, value...)
			q.first.take(value)
		case "cache_control":
			q.all.mark, q.all.hour = markOf(jsontext.Value(`{"cache_control":` + string(value) + `}`))
		}
		if len(head) > 0 {
			head = append(head, ',')
		}
		head, _ = jsontext.AppendQuote(head, word)
		head = append(append(head, ':'), value...)
	}
	if len(head) == 0 {
		head = modelMember("")
	}
	return head, before
}

// take looks for a mark on one of the objects of a list.
func (c *cacheControl) take(list jsontext.Value) {
	var objects []jsontext.Value
	if !bytes.Contains(list, []byte(`"cache_control"`)) || json.Unmarshal(list, &objects, lenient) != nil {
		return
	}
	for _, o := range objects {
		if mark, hour := markOf(o); mark {
			*c = cacheControl{mark, hour}
		}
	}
}

func (b *bodies) sessions() (all []Session) {
	for _, s := range b.of {
		if len(s.requests) > 0 {
			all = append(all, s)
		}
	}
	return all
}
