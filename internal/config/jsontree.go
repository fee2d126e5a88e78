package config

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"secateur/internal/config/document"
)

// parseJSON reads JSON into a tree; comments and trailing commas are allowed. After a syntax error
// the tree has everything before it, and whole is false.
func parseJSON(data []byte) (root *node, found []finding, whole bool) {
	plain := document.PlainJSON(data)
	j := &jsonTree{
		data: plain,
		dec:  jsontext.NewDecoder(bytes.NewBuffer(plain), jsontext.AllowDuplicateNames(true)),
	}
	root, err := j.value("")
	if err == nil {
		_, err = j.dec.ReadToken()
		if errors.Is(err, io.EOF) {
			err = nil
		} else if err == nil {
			err = errors.New("there is something after the end of the document")
		}
	}
	if root == nil {
		root = newTable(0, fromValue)
	}
	if err != nil {
		j.syntaxError(err)
		return root, j.found, false
	}
	if root.kind != kindTable {
		j.found = append(j.found, finding{place: place{off: root.off}, text: "expected a table { … }, not " + root.kind.String()})
		return newTable(0, fromValue), j.found, false
	}
	return root, j.found, true
}

type jsonTree struct {
	data  []byte
	dec   *jsontext.Decoder
	depth int
	found []finding
}

// next returns the offset of the next token.
func (j *jsonTree) next() int {
	j.dec.PeekKind()
	off := int(j.dec.InputOffset())
	for off < len(j.data) && strings.IndexByte(" \t\r\n,:", j.data[off]) >= 0 {
		off++
	}
	return off
}

// value reads one value. On an error it returns what it had so far, so that mistakes before that
// place are found too.
func (j *jsonTree) value(path string) (*node, error) {
	if j.depth++; j.depth > maxDepth {
		return nil, errDepth
	}
	defer func() { j.depth-- }()
	n := &node{off: j.next()}
	tok, err := j.dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch tok.Kind() {
	case jsontext.KindBeginObject:
		n.kind = kindTable
		return n, j.members(n, path)
	case jsontext.KindBeginArray:
		n.kind = kindList
		return n, j.items(n, path)
	case jsontext.KindString:
		n.kind, n.text = kindString, tok.String()
	case jsontext.KindNumber:
		n.kind, n.text = kindInteger, tok.String()
		if strings.ContainsAny(n.text, ".eE") {
			n.kind = kindFloat
		}
	case jsontext.KindNull:
		n.kind = kindNull
	default:
		n.kind, n.text = kindBool, tok.String()
	}
	return n, nil
}

func (j *jsonTree) members(n *node, path string) error {
	for j.dec.PeekKind() != jsontext.KindEndObject {
		off := j.next()
		name, err := j.dec.ReadToken()
		if err != nil {
			return err
		}
		key := name.String()
		at := join(path, key)
		v, err := j.value(at)
		if v != nil {
			v.off = off
			if !n.put(member{name: key, off: off, value: v}) {
				j.found = append(j.found, finding{place: place{label: at, off: off}, text: "this key is set twice"})
			}
		}
		if err != nil {
			return err
		}
	}
	_, err := j.dec.ReadToken()
	return err
}

func (j *jsonTree) items(n *node, path string) error {
	for j.dec.PeekKind() != jsontext.KindEndArray {
		v, err := j.value(path + "[" + strconv.Itoa(len(n.items)) + "]")
		if v != nil {
			n.items = append(n.items, v)
		}
		if err != nil {
			return err
		}
	}
	_, err := j.dec.ReadToken()
	return err
}

func (j *jsonTree) syntaxError(err error) {
	f := finding{place: place{off: int(j.dec.InputOffset())}}
	if serr, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		f.off = int(serr.ByteOffset)
		err = serr.Err
	}
	f.text = "not JSON: " + err.Error()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		f.off = len(j.data)
		f.text = "not JSON: the document ends too early"
	}
	j.found = append(j.found, f)
}
