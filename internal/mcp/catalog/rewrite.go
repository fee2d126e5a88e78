package catalog

import (
	"strings"

	"secateur/internal/rawjson"
)

// Outgoing is what a server sends to a client, with the URIs of its resources and
// the ids of its tasks rewritten to what clients call them. Documents must be
// well-formed.
type Outgoing struct {
	Server string

	// Asked is what the client called the resource that the server calls Original,
	// where this answers a request about one: the client gets to read its own word.
	Asked, Original string
}

// Result rewrites the result of a method. It returns the same slice where there is
// nothing to rewrite.
func (o Outgoing) Result(method string, result []byte) []byte {
	return rawjson.Edited(result, o.ResultEdits(method, result))
}

// ResultEdits returns what Result would change, in the order of the document.
func (o Outgoing) ResultEdits(method string, result []byte) []rawjson.Edit {
	s, known := resultShapes[method]
	if !known {
		s = relates
	}
	names := o.names()
	if method == "resources/templates/list" {
		names.uri = func(template string) string { return EncodeTemplate(o.Server, template) }
	}
	return rewrite(result, s, names)
}

// Params rewrites the params of a request or notification that the server sent of
// its own accord. It returns the same slice where there is nothing to rewrite.
func (o Outgoing) Params(method string, params []byte) []byte {
	return rawjson.Edited(params, o.ParamsEdits(method, params))
}

// ParamsEdits returns what Params would change, in the order of the document.
func (o Outgoing) ParamsEdits(method string, params []byte) []rawjson.Edit {
	s, known := paramsShapes[method]
	if !known {
		s = relates
	}
	return rewrite(params, s, o.names())
}

// ErrorData rewrites the data of an error, which names the resource that was not
// found.
func (o Outgoing) ErrorData(data []byte) []byte {
	return rawjson.Edited(data, rewrite(data, errorShape, o.names()))
}

// names are what is written for what a server calls a resource or a task.
type names struct{ uri, task func(string) string }

func (o Outgoing) names() names {
	return names{uri: o.encode, task: func(id string) string { return WrapTask(o.Server, id) }}
}

func (o Outgoing) encode(uri string) string {
	if o.Asked != "" && uri == o.Original {
		return o.Asked
	}
	return EncodeURI(o.Server, uri)
}

// rewrite goes once over a document and returns an edit for every URI and every task
// that a shape finds in it and that goes by another name.
func rewrite(doc []byte, s *shape, n names) []rawjson.Edit {
	r := rewriter{Cursor: rawjson.NewCursor(doc), names: n}
	r.walk(s)
	return r.edits
}

// maxNesting bounds content within content within content, and with it our stack.
// What stands deeper is left as it is.
const maxNesting = 256

type rewriter struct {
	rawjson.Cursor
	names   names
	edits   []rawjson.Edit
	roles   []role // of the edits, as far as they hang on what an object turns out to be
	nesting int
}

// walk passes the next value, which has a shape.
func (r *rewriter) walk(s *shape) {
	if r.nesting == maxNesting {
		r.Value()
		return
	}
	r.nesting++
	switch c := r.Peek(); {
	case c == '"' && (s.uri || s.ui):
		r.name(r.names.uri, s.ui)
	case c == '"' && s.task:
		r.name(r.names.task, false)
	case c == '{' && s.block:
		r.block()
	case c == '{' && s.call:
		r.call(s)
	case c == '{' && (s.members != nil || s.every != nil):
		for r.Enter(); !r.Done(); {
			if inner := s.member(r.Name()); inner != nil {
				r.walk(inner)
			} else {
				r.Value()
			}
		}
	case c == '[' && s.each != nil:
		for r.Enter(); !r.Done(); {
			r.walk(s.each)
		}
	default:
		r.Value()
	}
	r.nesting--
}

// member returns the shape of a member by its name, nil for one without.
func (s *shape) member(name []byte) *shape {
	if s.every != nil {
		return s.every
	}
	return s.members[string(name)]
}

// name passes a string and gives it another name.
func (r *rewriter) name(encode func(string) string, onlyUI bool) {
	at := r.Value()
	old, ok := rawjson.Text(at.Of(r.Doc()))
	if !ok || onlyUI && !strings.HasPrefix(old, uiPrefix) {
		return
	}
	if now := encode(old); now != old {
		r.edits = append(r.edits, rawjson.Edit{Span: at, New: rawjson.AppendQuoted(nil, now)})
	}
}

// role tells what an object has to be for an edit in it to be made.
type role uint8

const (
	linked   role = iota + 1 // uri of a resource_link
	embedded                 // uri in the resource of a resource
	nested                   // anything in the content of a tool_result
	created                  // taskId of a result that is a task
	handle                   // taskId in the task of a result that is one, or does not say what it is
)

var roleOfType = map[string]role{"resource_link": linked, "resource": embedded, "tool_result": nested}

// block passes a content block. Blocks of types that we do not know keep their
// bytes, and the type may stand at the end, so the edits are sorted out then.
func (r *rewriter) block() {
	first := len(r.edits)
	var is role
	for r.Enter(); !r.Done(); {
		switch string(r.Name()) {
		case "type":
			is = roleOfType[string(rawjson.Word(r.Raw()))]
		case "uri":
			r.within(linked, uriShape)
		case "resource":
			r.within(embedded, withURI)
		case "content":
			r.within(nested, blocks)
		default:
			r.Value()
		}
	}
	r.keep(first, func(e role) bool { return e == is })
}

// call passes a tool's result. Only one that is a task has a task's id; what it is
// may stand at the end.
func (r *rewriter) call(s *shape) {
	first := len(r.edits)
	kind, says := "", false
	for r.Enter(); !r.Done(); {
		switch name := r.Name(); string(name) {
		case "resultType":
			kind, says = rawjson.Text(r.Raw())
		case "taskId":
			r.within(created, taskID)
		case "task":
			r.within(handle, withTask)
		default:
			if inner := s.member(name); inner != nil {
				r.walk(inner)
			} else {
				r.Value()
			}
		}
	}
	isTask := kind == "task"
	r.keep(first, func(e role) bool { return isTask || e != created && (e != handle || !says) })
}

// keep drops the edits from an index on whose role the object did not have.
func (r *rewriter) keep(first int, has func(role) bool) {
	kept := first
	for i := first; i < len(r.edits); i++ {
		if as := r.roleOf(i); has(as) {
			r.edits[kept] = r.edits[i]
			kept++
		}
	}
	r.edits, r.roles = r.edits[:kept], r.roles[:min(first, len(r.roles))]
}

// roleOf returns the role of an edit, 0 for one without.
func (r *rewriter) roleOf(i int) role {
	if i < len(r.roles) {
		return r.roles[i]
	}
	return 0
}

// within passes the next value, which has a shape if the object turns out to be of
// the right kind.
func (r *rewriter) within(as role, s *shape) {
	first := len(r.edits)
	r.walk(s)
	for i := first; i < len(r.edits); i++ {
		for len(r.roles) <= i {
			r.roles = append(r.roles, 0)
		}
		r.roles[i] = as
	}
}
