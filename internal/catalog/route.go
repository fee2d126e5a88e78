package catalog

import (
	"fmt"
	"strings"

	"secateur/internal/rawjson"
)

// A Route says where a request goes.
type Route struct {
	Server string
	Params []byte // as the server wants them; the same slice where nothing was rewritten

	Name string // of the tool or prompt, as the server calls it
	URI  string // of the resource or template, as the server calls it
	Task string // its id, as the server calls it

	Asked string // what the client wrote for Name, URI or Task
}

// Outgoing returns what rewrites the answer to the request.
func (r Route) Outgoing() Outgoing {
	o := Outgoing{Server: r.Server}
	if r.URI != "" {
		o.Original, o.Asked = r.URI, r.Asked
	}
	return o
}

// A ParamsError tells of params that cannot be used: an answer for the client
// with the code for invalid params.
type ParamsError struct {
	Path    string   // JSON Pointer into the params
	Problem string   // for a person
	Servers []string // that are all meant, where the client has to choose
	Err     error    // ErrStaleCursor or nil
}

func (e *ParamsError) Error() string { return e.Problem }

func (e *ParamsError) Unwrap() error { return e.Err }

// Routed tells whether Route knows a method.
func Routed(method string) bool {
	switch method {
	case "tools/call", "prompts/get", "resources/read", "resources/subscribe", "resources/unsubscribe",
		"completion/complete", "tasks/get", "tasks/update", "tasks/cancel", "tasks/result":
		return true
	default:
		return false
	}
}

// Route finds the server that a request is for by the name, URI or task in its
// params, and puts in the server's own. Params must be well-formed. The error is a
// *ParamsError; for a method that is not Routed too.
func (v *View) Route(method string, params []byte) (Route, error) {
	r, err := v.route(method, params)
	if err == nil {
		r.Params = UnwrapRelated(r.Server, r.Params)
	}
	return r, err
}

func (v *View) route(method string, params []byte) (Route, error) {
	switch method {
	case "tools/call":
		return v.routeName(Tools, params, "/name", memberOf(params, "name"))
	case "prompts/get":
		return v.routeName(Prompts, params, "/name", memberOf(params, "name"))
	case "resources/read", "resources/subscribe", "resources/unsubscribe":
		return v.routeURI(params, "/uri", memberOf(params, "uri"))
	case "completion/complete":
		return v.routeRef(params)
	case "tasks/get", "tasks/update", "tasks/cancel", "tasks/result":
		return v.routeTask(params, "/taskId", memberOf(params, "taskId"))
	default:
		return Route{}, &ParamsError{Problem: fmt.Sprintf("nothing in %s says which server it is for", clipped(method))}
	}
}

func (v *View) routeName(l List, params []byte, path string, at span) (Route, error) {
	name, err := textAt(params, path, at)
	if err != nil {
		return Route{}, err
	}
	t, ok := v.resolve(l, name)
	if !ok {
		e := &ParamsError{Path: path, Problem: fmt.Sprintf("unknown %s: %s", l, clipped(name))}
		if e.Servers = v.offering(l, name); len(e.Servers) > 1 {
			e.Problem = fmt.Sprintf("several servers have a %s %s: %s", l, clipped(name), strings.Join(e.Servers, ", "))
		}
		return Route{}, e
	}
	return Route{
		Server: v.servers[t.server], Name: t.name, Asked: name,
		Params: replaced(params, at, name, t.name),
	}, nil
}

func (v *View) routeURI(params []byte, path string, at span) (Route, error) {
	uri, err := textAt(params, path, at)
	if err != nil {
		return Route{}, err
	}
	server, original, ok := v.ResolveURI(uri)
	if !ok {
		e := &ParamsError{Path: path, Problem: "unknown resource: " + clipped(uri)}
		if e.Servers = v.offering(Resources, uri); len(e.Servers) > 1 {
			e.Problem = fmt.Sprintf("several servers have the resource %s: %s", clipped(uri), strings.Join(e.Servers, ", "))
		}
		return Route{}, e
	}
	return Route{
		Server: server, URI: original, Asked: uri,
		Params: replaced(params, at, uri, original),
	}, nil
}

func (v *View) routeTask(params []byte, path string, at span) (Route, error) {
	id, err := textAt(params, path, at)
	if err != nil {
		return Route{}, err
	}
	server, task, ok := UnwrapTask(id)
	if _, known := v.index[server]; !ok || !known {
		return Route{}, &ParamsError{Path: path, Problem: "unknown task: " + clipped(id)}
	}
	return Route{
		Server: server, Task: task, Asked: id,
		Params: replaced(params, at, id, task),
	}, nil
}

// routeRef is for completion: of a prompt's argument or a template's variable.
func (v *View) routeRef(params []byte) (Route, error) {
	ref := memberOf(params, "ref")
	inner := ref.of(params)
	if !isObject(inner) {
		return Route{}, &ParamsError{Path: "/ref", Problem: "expected an object"}
	}
	within := func(name string) span {
		at := memberOf(inner, name)
		if at.end == 0 {
			return at
		}
		return span{ref.start + at.start, ref.start + at.end}
	}
	switch kind, _ := text(memberOf(inner, "type").of(inner)); kind {
	case "ref/prompt":
		return v.routeName(Prompts, params, "/ref/name", within("name"))
	case "ref/resource":
		return v.routeURI(params, "/ref/uri", within("uri"))
	default:
		return Route{}, &ParamsError{Path: "/ref/type", Problem: "expected ref/prompt or ref/resource"}
	}
}

// SubscriptionURIs returns the URIs that a subscriptions/listen asks for, as the
// client wrote them. Each may be another server's.
func SubscriptionURIs(params []byte) []string { return subscriptions(params, "resourceSubscriptions") }

// SubscriptionTasks returns the tasks that a subscriptions/listen asks for, as the
// client wrote them. Each may be another server's.
func SubscriptionTasks(params []byte) []string { return subscriptions(params, "taskIds") }

// subscriptions returns the strings in a list of a subscriptions/listen.
func subscriptions(params []byte, name string) []string {
	filter := memberOf(params, "notifications").of(params)
	list := memberOf(filter, name).of(filter)
	if len(list) == 0 || list[0] != '[' {
		return nil
	}
	var found []string
	w := walker{doc: list}
	for w.enter(); !w.done(); {
		if s, ok := text(w.raw()); ok {
			found = append(found, s)
		}
	}
	return found
}

// memberOf returns where the value of a member stands in an object; the zero span
// where there is none.
func memberOf(doc []byte, name string) span {
	w := walker{doc: doc}
	if w.peek() != '{' {
		return span{}
	}
	for w.enter(); !w.done(); {
		key := word(w.raw())
		if at := w.value(); string(key) == name {
			return at
		}
	}
	return span{}
}

// textAt returns the string at a place in the params, where there must be one.
func textAt(params []byte, path string, at span) (string, error) {
	if at.end == 0 {
		return "", &ParamsError{Path: path, Problem: path[strings.LastIndexByte(path, '/')+1:] + " is missing"}
	}
	s, ok := text(at.of(params))
	if !ok {
		return "", &ParamsError{Path: path, Problem: "expected a string"}
	}
	return s, nil
}

// replaced puts another string in the place of one, where they differ.
func replaced(doc []byte, at span, old, now string) []byte {
	if old == now {
		return doc
	}
	return edited(doc, []Edit{{Start: at.start, End: at.end, New: rawjson.AppendQuoted(nil, now)}})
}

// clipped makes what a client wrote fit for a message.
func clipped(s string) string {
	const most = 200
	if rawjson.Chars(s) > most {
		return firstChars(s, most) + "…"
	}
	return s
}
