package catalog

import (
	"strings"

	"secateur/internal/rawjson"
)

// Outgoing is what a server sends to a client, with the URIs of its resources
// rewritten to what clients call them. Documents must be well-formed.
type Outgoing struct {
	Server string

	// Asked is what the client called the resource that the server calls Original,
	// where this answers a request about one: the client gets to read its own word.
	Asked, Original string
}

// Result rewrites the result of a method. It returns the same slice where there is
// nothing to rewrite.
func (o Outgoing) Result(method string, result []byte) []byte {
	return edited(result, o.ResultEdits(method, result))
}

// ResultEdits returns what Result would change, in the order of the document.
func (o Outgoing) ResultEdits(method string, result []byte) []Edit {
	s := resultShapes[method]
	if method == "resources/templates/list" {
		return rewrite(result, s, func(template string) string { return EncodeTemplate(o.Server, template) })
	}
	return rewrite(result, s, o.encode)
}

// Params rewrites the params of a request or notification that the server sent of
// its own accord. It returns the same slice where there is nothing to rewrite.
func (o Outgoing) Params(method string, params []byte) []byte {
	return edited(params, o.ParamsEdits(method, params))
}

// ParamsEdits returns what Params would change, in the order of the document.
func (o Outgoing) ParamsEdits(method string, params []byte) []Edit {
	return rewrite(params, paramsShapes[method], o.encode)
}

// ErrorData rewrites the data of an error, which names the resource that was not
// found.
func (o Outgoing) ErrorData(data []byte) []byte {
	return edited(data, rewrite(data, errorShape, o.encode))
}

func (o Outgoing) encode(uri string) string {
	if o.Asked != "" && uri == o.Original {
		return o.Asked
	}
	return EncodeURI(o.Server, uri)
}

// rewrite goes once over a document and returns an edit for every URI that a shape
// finds in it.
func rewrite(doc []byte, s *shape, encode func(string) string) []Edit {
	if s == nil {
		return nil
	}
	r := rewriter{walker: walker{doc: doc}, encode: encode}
	r.walk(s)
	return r.edits
}

// maxNesting bounds content within content within content, and with it our stack.
// What stands deeper is left as it is.
const maxNesting = 256

type rewriter struct {
	walker
	encode  func(string) string
	edits   []Edit
	nesting int
}

// walk passes the next value, which has a shape.
func (r *rewriter) walk(s *shape) {
	if r.nesting == maxNesting {
		r.value()
		return
	}
	r.nesting++
	switch c := r.peek(); {
	case c == '"' && (s.uri || s.ui):
		r.uri(s.ui)
	case c == '{' && s.block:
		r.block()
	case c == '{' && (s.members != nil || s.every != nil):
		for r.enter(); !r.done(); {
			if inner := s.member(r.raw()); inner != nil {
				r.walk(inner)
			} else {
				r.value()
			}
		}
	case c == '[' && s.each != nil:
		for r.enter(); !r.done(); {
			r.walk(s.each)
		}
	default:
		r.value()
	}
	r.nesting--
}

// member returns the shape of a member by its raw name, nil for one without.
func (s *shape) member(name []byte) *shape {
	if s.every != nil {
		return s.every
	}
	return s.members[string(word(name))]
}

func (r *rewriter) uri(onlyUI bool) {
	at := r.value()
	uri, ok := text(at.of(r.doc))
	if !ok || onlyUI && !strings.HasPrefix(uri, uiPrefix) {
		return
	}
	r.edits = append(r.edits, Edit{Start: at.start, End: at.end, New: rawjson.AppendQuoted(nil, r.encode(uri))})
}

// blockRole tells which type of content block has a URI in that place.
type blockRole uint8

const (
	linked   blockRole = iota + 1 // uri of a resource_link
	embedded                      // uri in the resource of a resource
	nested                        // anything in the content of a tool_result
)

var roleOfType = map[string]blockRole{"resource_link": linked, "resource": embedded, "tool_result": nested}

// block passes a content block. Blocks of types that we do not know keep their
// bytes, and the type may stand at the end, so the edits are sorted out then.
func (r *rewriter) block() {
	first := len(r.edits)
	var role blockRole
	for r.enter(); !r.done(); {
		switch name := word(r.raw()); string(name) {
		case "type":
			kind, _ := text(r.raw())
			role = roleOfType[kind]
		case "uri":
			r.within(linked, uriShape)
		case "resource":
			r.within(embedded, withURI)
		case "content":
			r.within(nested, blocks)
		default:
			r.value()
		}
	}
	kept := r.edits[:first]
	for _, e := range r.edits[first:] {
		if e.role == role {
			kept = append(kept, e)
		}
	}
	r.edits = kept
}

// within passes the next value, which has a shape if the block turns out to be of
// the right type.
func (r *rewriter) within(role blockRole, s *shape) {
	first := len(r.edits)
	r.walk(s)
	for i := first; i < len(r.edits); i++ {
		r.edits[i].role = role
	}
}
