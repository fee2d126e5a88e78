package llm

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Change is a string that differs in what reached the provider.
type Change struct {
	Path     string // of the string, such as messages.2.content.0.content
	Was, Is  string // as in the document
	HolderOf string // the type of its block or item
}

// Compare lists the strings in which two documents differ. Any other difference, even a space, is
// an error.
func Compare(client, upstream []byte) ([]Change, error) {
	if bytes.Equal(client, upstream) {
		return nil, nil
	}
	a, err := lexemes(client)
	if err != nil {
		return nil, err
	}
	b, err := lexemes(upstream)
	if err != nil {
		return nil, err
	}
	var changes []Change
	var whole any // client, once something is found changed
	for i := range min(len(a), len(b)) {
		was, is := a[i], b[i]
		if bytes.Equal(was.raw, is.raw) && was.before == is.before {
			continue
		}
		if was.path != is.path || was.before != is.before || was.raw[0] != '"' || is.raw[0] != '"' || was.path == "" {
			return nil, fmt.Errorf("at %s: %.80q became %.80q at %s", was.path, was.before+string(was.raw), is.before+string(is.raw), is.path)
		}
		if whole == nil {
			if err := json.Unmarshal(client, &whole); err != nil {
				return nil, err
			}
		}
		changes = append(changes, Change{Path: was.path, Was: string(was.raw), Is: string(is.raw), HolderOf: holder(whole, was.path)})
	}
	if len(a) != len(b) {
		return nil, fmt.Errorf("%d values became %d", len(a), len(b))
	}
	return changes, nil
}

// lexeme is a value or a bracket with the text between it and the one before. A name has no path.
type lexeme struct {
	path, before string
	raw          []byte
}

func lexemes(doc []byte) (all []lexeme, err error) {
	type level struct {
		object, named bool
		name          string
		index         int
	}
	var stack []level
	path := func() string {
		var parts []string
		for _, l := range stack {
			if l.object {
				parts = append(parts, l.name)
			} else {
				parts = append(parts, strconv.Itoa(l.index))
			}
		}
		return strings.Join(parts, ".")
	}
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	end := int64(0)
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		span := doc[end:d.InputOffset()]
		end = d.InputOffset()
		start := len(span) - len(bytes.TrimLeft(span, " \t\r\n,:"))
		x := lexeme{before: string(span[:start]), raw: span[start:]}
		top := len(stack) - 1
		delim, _ := token.(json.Delim)
		switch {
		case delim == '}' || delim == ']':
			stack = stack[:top]
			top--
		case top >= 0 && stack[top].object && !stack[top].named:
			stack[top].name, stack[top].named = token.(string), true
			all = append(all, x)
			continue
		default:
			x.path = path()
		}
		all = append(all, x)
		if delim == '{' || delim == '[' {
			stack = append(stack, level{object: delim == '{'})
			continue
		}
		if top >= 0 { // a value has ended
			stack[top].named = false
			stack[top].index++
		}
	}
}

// holder returns the type of the block or item above a path.
func holder(v any, path string) string {
	depth := 2 // input.N
	if strings.HasPrefix(path, "messages.") {
		depth = 4 // messages.N.content.M
	}
	for i, part := range strings.Split(path, ".") {
		if i == depth {
			break
		}
		switch c := v.(type) {
		case map[string]any:
			v = c[part]
		case []any:
			n, err := strconv.Atoi(part)
			if err != nil || n >= len(c) {
				return ""
			}
			v = c[n]
		}
	}
	m, _ := v.(map[string]any)
	kind, _ := m["type"].(string)
	return kind
}

// Forms remembers the sent form of each part of each conversation. A form must not change.
type Forms struct {
	sent map[[sha256.Size]byte][]byte // by what the client had sent up to and including the part
}

// Add takes a request as the client sent it and as it reached the provider.
func (f *Forms) Add(path string, client, upstream []byte) error {
	if f.sent == nil {
		f.sent = map[[sha256.Size]byte][]byte{}
	}
	a, err := parts(path, client)
	if err != nil {
		return err
	}
	b, err := parts(path, upstream)
	if err != nil {
		return err
	}
	if len(a) != len(b) {
		return fmt.Errorf("%d parts became %d", len(a), len(b))
	}
	var key [sha256.Size]byte
	for i := range a {
		key = sha256.Sum256(append(key[:], a[i]...))
		before, known := f.sent[key]
		if known && !bytes.Equal(before, b[i]) {
			return fmt.Errorf("part %d was sent as %.300q and now as %.300q", i, before, b[i])
		}
		f.sent[key] = b[i]
	}
	return nil
}

// parts returns the model, the tools, the system prompt and then each message or item, without
// markers.
func parts(path string, body []byte) (all [][]byte, err error) {
	var doc struct {
		Model        string            `json:"model"`
		Tools        json.RawMessage   `json:"tools"`
		System       json.RawMessage   `json:"system"`
		Instructions json.RawMessage   `json:"instructions"`
		Messages     []json.RawMessage `json:"messages"`
		Input        json.RawMessage   `json:"input"`
	}
	if err := json.Unmarshal(body, &doc); err != nil {
		return nil, err
	}
	list := doc.Messages
	if path == responsesPath {
		if list, err = inputItems(doc.Input); err != nil {
			return nil, err
		}
	}
	name, _ := json.Marshal(doc.Model)
	for _, raw := range append([]json.RawMessage{name, doc.Tools, doc.System, doc.Instructions}, list...) {
		b, err := json.Marshal(value(raw))
		if err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}
