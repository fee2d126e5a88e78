package catalog

import (
	"strings"

	"secateur/internal/rawjson"
)

// Outgoing rewrites the resource URIs and task ids in a server's messages to the clients' form.
// Documents must be well-formed.
type Outgoing struct {
	Server string

	// Asked is the client's URI for the server's URI Original, if this answers a request about that
	// resource. The client gets its own spelling back.
	Asked, Original string
}

// Result rewrites the result of a method. It returns the same slice if nothing changes.
func (o Outgoing) Result(method string, result []byte) []byte {
	return rawjson.Edited(result, o.ResultEdits(method, result))
}

// ResultEdits returns the edits of Result, in document order.
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

// Params rewrites the params of a server's request or notification. It returns the same slice if
// nothing changes.
func (o Outgoing) Params(method string, params []byte) []byte {
	return rawjson.Edited(params, o.ParamsEdits(method, params))
}

// ParamsEdits returns the edits of Params, in document order.
func (o Outgoing) ParamsEdits(method string, params []byte) []rawjson.Edit {
	s, known := paramsShapes[method]
	if !known {
		s = relates
	}
	return rewrite(params, s, o.names())
}

// ErrorData rewrites the data of an error, which names the resource that was not found.
func (o Outgoing) ErrorData(data []byte) []byte {
	return rawjson.Edited(data, rewrite(data, errorShape, o.names()))
}

// names maps a server's URIs and task ids to their new form.
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

// rewrite scans a document once. It returns an edit for every URI and task id that the shape finds
// and that changes.
func rewrite(doc []byte, s *shape, n names) []rawjson.Edit {
	r := rewriter{Cursor: rawjson.NewCursor(doc), names: n}
	r.walk(s)
	return r.edits
}

// maxNesting limits nested content, and thus the stack. Deeper parts are left unchanged.
const maxNesting = 256

type rewriter struct {
	rawjson.Cursor
	names   names
	edits   []rawjson.Edit
	roles   []role // roles of the edits that depend on the type of their object
	nesting int
}

// walk reads the next value, which has the given shape.
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

// member returns the shape of a member by name; nil: none.
func (s *shape) member(name []byte) *shape {
	if s.every != nil {
		return s.every
	}
	return s.members[string(name)]
}

// name reads a string and replaces it with its new form.
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

// role is the type that an object must have for an edit in it to apply.
type role uint8

const (
	linked   role = iota + 1 // uri of a resource_link
	embedded                 // uri in the resource of a resource
	nested                   // anything in the content of a tool_result
	created                  // taskId of a result that is a task
	handle                   // taskId in the task of a result that is one, or has no resultType
)

var roleOfType = map[string]role{"resource_link": linked, "resource": embedded, "tool_result": nested}

// block reads a content block. Blocks of unknown types keep their bytes. The type may come last, so
// the edits are filtered at the end.
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

// call reads a tool's result. Only a task result has a task id. The result's type may come last.
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

// keep drops the edits from an index on whose role does not match the object.
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

// roleOf returns the role of an edit; 0: none.
func (r *rewriter) roleOf(i int) role {
	if i < len(r.roles) {
		return r.roles[i]
	}
	return 0
}

// within reads the next value with a shape that applies only if the object has the given role.
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
