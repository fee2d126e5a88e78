package replay

import (
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

// ReadFile reads the sessions of a file; "-" is standard input. The file has JSON objects, one per
// line, plain or gzipped. They may be whole sessions, request bodies, lines of a Claude Code
// transcript or lines of a Codex rollout. Their shape tells which. Request bodies may be in any of
// the three formats, also within a list; those of one format form one session. Errors name the file
// and the line.
func ReadFile(path string) ([]Session, error) {
	f, where := os.Stdin, "standard input"
	if path != "-" {
		var err error
		if f, err = os.Open(path); err != nil { //nolint:gosec // the user names the file on the command line
			return nil, err
		}
		defer f.Close()
		where = path
	}
	data, err := io.ReadAll(f)
	if err == nil && bytes.HasPrefix(data, []byte("\x1f\x8b")) {
		data, err = unzip(data)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", where, err)
	}
	sessions, err := parse(data, filepath.Base(path))
	if err != nil {
		return nil, fmt.Errorf("%s:%w", where, err)
	}
	if !slices.ContainsFunc(sessions, Session.speaks) {
		return nil, fmt.Errorf("%s: no conversation in it: %s; %s", where, found(data), known)
	}
	return sessions, nil
}

// known lists the readable formats, for error messages.
const known = "known are sessions with an id and messages, bodies of requests (chat completions, Messages, Responses), " +
	"transcripts of Claude Code and rollouts of Codex"

func unzip(data []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// Read reads sessions like ReadFile. Request bodies form a session with the given name.
func Read(r io.Reader, name string) ([]Session, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return parse(data, name)
}

// parse reads sessions. Its errors begin with the line.
func parse(data []byte, name string) ([]Session, error) {
	var sessions []Session
	requests, lines, items := bodies{name: name}, transcripts{name: name}, rollout{name: name}
	d := jsontext.NewDecoder(bytes.NewReader(data), lenient)
	for {
		switch d.PeekKind() {
		case '[', ']':
			if d.StackDepth() == 0 || d.PeekKind() == ']' { // a list of bodies
				if _, err := d.ReadToken(); err != nil {
					return nil, noJSON(data, d, err)
				}
				continue
			}
		}
		v, err := d.ReadValue()
		if errors.Is(err, io.EOF) && d.StackDepth() == 0 {
			break
		}
		if err != nil {
			return nil, noJSON(data, d, err)
		}
		at := d.InputOffset() - int64(len(v))
		if v.Kind() != '{' {
			return nil, fmt.Errorf("%d: neither a session nor the body of a request: found %s", lineOf(data, at), kind(v))
		}
		var rec recorded
		switch shape, outline := shapeOf(v); shape {
		case wholeSession:
			if err = json.Unmarshal(v.Clone(), &rec, lenient); err == nil {
				sessions = append(sessions, rec.session())
			}
		case requestBody:
			err = requests.add(v.Clone(), outline)
		case transcriptLine:
			err = lines.add(v.Clone())
		case rolloutLine:
			err = items.add(v.Clone())
		default:
			return nil, fmt.Errorf("%d: %s; %s", lineOf(data, at), found(v), known)
		}
		if err != nil {
			return nil, wrongType(lineOf(data, at), v, err)
		}
	}
	return slices.Concat(sessions, requests.sessions(), lines.sessions(), items.sessions()), nil
}

// speaks reports whether any request has messages.
func (s Session) speaks() bool {
	return slices.ContainsFunc(s.requests, func(q request) bool { return len(q.list) > 0 })
}

// noJSON reports where the decoder stopped, and the text found there.
func noJSON(data []byte, d *jsontext.Decoder, err error) error {
	at := d.InputOffset()
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		at = e.ByteOffset
		err = e.Err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%d: the file ends in the middle of a value", lineOf(data, int64(len(data))))
	}
	return fmt.Errorf("%d: not JSON: %w: found %s", lineOf(data, at), err, excerpt(data[min(at, int64(len(data))):]))
}

// wrongType names the member with the wrong type.
func wrongType(at int, v jsontext.Value, err error) error {
	if e, ok := errors.AsType[*json.SemanticError](err); ok {
		return fmt.Errorf("%d: %s: found %s", at, strings.TrimPrefix(string(e.JSONPointer), "/"), e.JSONKind)
	}
	return fmt.Errorf("%d: %w: found %s", at, err, excerpt(v))
}

// lineOf returns the line number of a byte offset.
func lineOf(data []byte, at int64) int {
	at = min(max(at, 0), int64(len(data)))
	return 1 + bytes.Count(data[:at], []byte("\n"))
}

// found describes the first value of a file without conversations.
func found(data []byte) string {
	d := jsontext.NewDecoder(bytes.NewReader(data), lenient)
	if d.PeekKind() == '[' {
		_, _ = d.ReadToken() // it was decoded before
	}
	if d.PeekKind() != '{' {
		return "it is empty"
	}
	_, _ = d.ReadToken()
	var names []string
	for d.PeekKind() == '"' && len(names) < 8 {
		name, err := d.ReadToken()
		if err != nil {
			break
		}
		names = append(names, fmt.Sprintf("%q", shorten(name.String(), 40)))
		if d.SkipValue() != nil {
			break
		}
	}
	if len(names) == 0 {
		return "found an empty object"
	}
	return "found an object with " + strings.Join(names, ", ")
}

func kind(v jsontext.Value) string {
	switch v.Kind() {
	case '"':
		return "the string " + excerpt(v)
	case '[':
		return "a list within a list"
	}
	return excerpt(v)
}

// excerpt returns the beginning of a text for an error message.
func excerpt(text []byte) string {
	first, _, _ := bytes.Cut(text[:min(len(text), 200)], []byte("\n"))
	return fmt.Sprintf("%q", shorten(string(first), 40))
}
