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
		return v.routeName(Tools, params, "/name", rawjson.Find(params, "name"))
	case "prompts/get":
		return v.routeName(Prompts, params, "/name", rawjson.Find(params, "name"))
	case "resources/read", "resources/subscribe", "resources/unsubscribe":
		return v.routeURI(params, "/uri", rawjson.Find(params, "uri"))
	case "completion/complete":
		return v.routeRef(params)
	case "tasks/get", "tasks/update", "tasks/cancel", "tasks/result":
		return v.routeTask(params, "/taskId", rawjson.Find(params, "taskId"))
	default:
		return Route{}, &ParamsError{Problem: fmt.Sprintf("nothing in %s says which server it is for", clipped(method))}
	}
}

func (v *View) routeName(l List, params []byte, path string, at rawjson.Span) (Route, error) {
	name, err := textAt(params, path, at)
	if err != nil {
		return Route{}, err
	}
	t, ok := v.resolve(l, name)
	if !ok {
		e := unknown(l.String(), path, name)
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

func (v *View) routeURI(params []byte, path string, at rawjson.Span) (Route, error) {
	uri, err := textAt(params, path, at)
	if err != nil {
		return Route{}, err
	}
	server, original, ok := v.ResolveURI(uri)
	if !ok {
		e := unknown("resource", path, uri)
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

func (v *View) routeTask(params []byte, path string, at rawjson.Span) (Route, error) {
	id, err := textAt(params, path, at)
	if err != nil {
		return Route{}, err
	}
	server, task, ok := UnwrapTask(id)
	if _, known := v.index[server]; !ok || !known {
		return Route{}, unknown("task", path, id)
	}
	return Route{
		Server: server, Task: task, Asked: id,
		Params: replaced(params, at, id, task),
	}, nil
}

// unknown is the answer to a name, a URI or an id that nobody has.
func unknown(what, path, asked string) *ParamsError {
	return &ParamsError{Path: path, Problem: "unknown " + what + ": " + clipped(asked)}
}

// Unknown is what Route says of a request's name, URI or task that nobody has; nil of a request that names nothing of the kind.
func Unknown(method string, params []byte) *ParamsError {
	switch method {
	case "tools/call":
		return unknown(Tools.String(), "/name", rawjson.GetText(params, "name"))
	case "prompts/get":
		return unknown(Prompts.String(), "/name", rawjson.GetText(params, "name"))
	case "resources/read", "resources/subscribe", "resources/unsubscribe":
		return unknown("resource", "/uri", rawjson.GetText(params, "uri"))
	case "completion/complete":
		ref := rawjson.Get(params, "ref")
		if rawjson.GetText(ref, "type") == "ref/prompt" {
			return unknown(Prompts.String(), "/ref/name", rawjson.GetText(ref, "name"))
		}
		return unknown("resource", "/ref/uri", rawjson.GetText(ref, "uri"))
	case "tasks/get", "tasks/update", "tasks/cancel", "tasks/result":
		return unknown("task", "/taskId", rawjson.GetText(params, "taskId"))
	default:
		return nil
	}
}

// routeRef is for completion: of a prompt's argument or a template's variable.
func (v *View) routeRef(params []byte) (Route, error) {
	ref := rawjson.Find(params, "ref")
	inner := ref.Of(params)
	if !rawjson.IsObject(inner) {
		return Route{}, &ParamsError{Path: "/ref", Problem: "expected an object"}
	}
	within := func(name string) rawjson.Span { return rawjson.Find(inner, name).Within(ref) }
	switch rawjson.GetText(inner, "type") {
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
	var found []string
	for raw := range rawjson.Items(rawjson.Get(rawjson.Get(params, "notifications"), name)) {
		if s, ok := rawjson.Text(raw); ok {
			found = append(found, s)
		}
	}
	return found
}

// textAt returns the string at a place in the params, where there must be one.
func textAt(params []byte, path string, at rawjson.Span) (string, error) {
	if at.IsZero() {
		return "", &ParamsError{Path: path, Problem: path[strings.LastIndexByte(path, '/')+1:] + " is missing"}
	}
	s, ok := rawjson.Text(at.Of(params))
	if !ok {
		return "", &ParamsError{Path: path, Problem: "expected a string"}
	}
	return s, nil
}

// replaced puts another string in the place of one, where they differ.
func replaced(doc []byte, at rawjson.Span, old, now string) []byte {
	if old == now {
		return doc
	}
	return rawjson.Replace(doc, at, rawjson.AppendQuoted(nil, now))
}

// clipped makes what a client wrote fit for a message.
func clipped(s string) string {
	const most = 200
	if rawjson.Chars(s) > most {
		return firstChars(s, most) + "…"
	}
	return s
}
