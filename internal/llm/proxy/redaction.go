package proxy

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"secateur/internal/access"
	"secateur/internal/front/budget"
	"secateur/internal/rawjson"
)

// If a rule redacts results, a response is read whole before any of it is sent. The text to replace
// may span several pieces of a stream.

// errUnreadable means that a response that must be redacted cannot be read.
var errUnreadable = errors.New("the answer cannot be read, and a rule redacts it")

// redactsAnswer reports whether a rule redacts the model's output.
func (x *exchange) redactsAnswer() bool {
	return slices.ContainsFunc(x.redact, func(r *access.Redaction) bool { return r.Results })
}

// redactAnswer redacts a provider's response.
func (x *exchange) redactAnswer(res *http.Response, held *budget.Hold) error {
	if isEncoded(res.Header) {
		return errUnreadable // we asked for no compression
	}
	most := x.p.opt.MaxBodyBytes
	from := io.Reader(res.Body)
	if held != nil {
		from = held.Reader(from)
	}
	whole, err := io.ReadAll(io.LimitReader(from, most+1))
	if err != nil {
		return err
	}
	if int64(len(whole)) > most {
		return errUnreadable
	}
	if isEventStream(res.Header) {
		whole = redactEvents(whole, x.redact)
	} else {
		whole = redactWhole(whole, x.redact)
	}
	res.Body = &resumed{Reader: bytes.NewReader(whole), Closer: res.Body}
	if res.ContentLength >= 0 {
		res.ContentLength = int64(len(whole))
		res.Header["Content-Length"] = []string{strconv.Itoa(len(whole))}
	}
	return nil
}

// redactWhole redacts a JSON document or a plain text.
func redactWhole(doc []byte, list []*access.Redaction) []byte {
	if !isJSON(doc) {
		return []byte(access.RedactText(string(doc), list, access.InResults))
	}
	return access.Redact(doc, list, access.InResults)
}

func isJSON(doc []byte) bool {
	const maxDepth = 512
	return len(doc) > 0 && rawjson.Check(doc, maxDepth) == nil
}

// redactEvents redacts a stream of server-sent events. The pieces of a text, one per event, are
// joined as a client would join them. If something is replaced, the first piece becomes the new
// text and the others become empty.
func redactEvents(stream []byte, list []*access.Redaction) []byte {
	lines := bytes.SplitAfter(stream, []byte{'\n'})
	texts := map[string][]*piece{}
	var order []string
	var all []*piece
	for i, line := range lines {
		data := dataOf(line)
		if !isJSON(data) {
			continue
		}
		for _, p := range piecesOf(i, data) {
			if texts[p.key] == nil {
				order = append(order, p.key)
			}
			texts[p.key] = append(texts[p.key], p)
			all = append(all, p)
		}
	}
	for _, key := range order {
		rejoin(texts[key], list)
	}
	for _, p := range slices.Backward(all) { // backwards, so that earlier offsets stay valid
		if p.changed {
			at := bytes.Index(lines[p.line], dataOf(lines[p.line]))
			lines[p.line] = slices.Concat(lines[p.line][:at+p.from], rawjson.AppendQuoted(nil, p.text), lines[p.line][at+p.to:])
		}
	}
	var out []byte
	for _, line := range lines {
		if data := dataOf(line); len(data) > 0 {
			at := bytes.Index(line, data)
			line = slices.Concat(line[:at], redactWhole(data, list), line[at+len(data):])
		}
		out = append(out, line...)
	}
	return out
}

// dataOf returns the contents of a data line; nil for any other line.
func dataOf(line []byte) []byte {
	data, ok := bytes.CutPrefix(line, []byte("data:"))
	if !ok {
		return nil
	}
	return bytes.TrimSpace(data)
}

// piece is a part of a streamed text.
type piece struct {
	key      string // identifies the text
	line     int
	from, to int // of the quoted string in its data
	text     string
	changed  bool
}

// rejoin redacts the text formed by pieces.
func rejoin(pieces []*piece, list []*access.Redaction) {
	var whole strings.Builder
	for _, p := range pieces {
		whole.WriteString(p.text)
	}
	now := access.RedactText(whole.String(), list, access.InResults)
	if now == whole.String() {
		return
	}
	for i, p := range pieces {
		p.changed, p.text = true, ""
		if i == 0 {
			p.text = now
		}
	}
}

// piecesOf finds the strings below a member named delta, which all three formats use for streamed
// text. A text is identified by the event's type, its path, and the index members of its parents.
func piecesOf(line int, data []byte) (list []*piece) {
	if !bytes.Contains(data, []byte(`"delta"`)) {
		return nil
	}
	indexes := map[string]string{} // by the object's pointer
	kind := ""
	walkStrings(data, func(at jsontext.Pointer, token jsontext.Token, from, to int64) {
		switch name := at.LastToken(); {
		case token.Kind() == '0' && (name == "index" || name == "output_index" || name == "content_index"):
			indexes[string(at.Parent())] += "," + token.String()
		case at == "/type":
			kind = token.String()
		case token.Kind() == '"' && strings.Contains(string(at)+"/", "/delta/"):
			list = append(list, &piece{key: string(at), line: line, from: int(from), to: int(to), text: token.String()})
		}
	})
	for _, p := range list {
		key := []byte(kind)
		for at := jsontext.Pointer(p.key); at != ""; at = at.Parent() {
			key = append(append(append(key, ' '), withoutPlace(at.LastToken())...), indexes[string(at.Parent())]...)
		}
		p.key = string(key)
	}
	return list
}

// withoutPlace drops an array index from a path, because the index member identifies the element.
func withoutPlace(name string) string {
	if _, err := strconv.Atoi(name); err == nil {
		return "#"
	}
	return name
}

// walkStrings visits the strings and numbers that are values.
func walkStrings(data []byte, visit func(at jsontext.Pointer, token jsontext.Token, from, to int64)) {
	d := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		token, err := d.ReadToken()
		if err != nil {
			return // the end: the document was checked
		}
		if kind := token.Kind(); kind != '"' && kind != '0' {
			continue
		}
		if container, n := d.StackIndex(d.StackDepth()); container == '{' && n%2 == 1 {
			continue // a member name
		}
		from, to := int64(0), d.InputOffset()
		if token.Kind() == '"' {
			from = stringStart(data, to)
		}
		visit(d.StackPointer(), token, from, to)
	}
}

// stringStart returns the start of the string that ends before an offset: the last unescaped quote.
func stringStart(data []byte, end int64) int64 {
	for at := end - 2; at >= 0; at-- {
		if data[at] != '"' {
			continue
		}
		slashes := int64(0)
		for at-slashes-1 >= 0 && data[at-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return at
		}
	}
	return 0
}
