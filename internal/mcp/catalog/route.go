package catalog

import (
	"fmt"
	"strings"

	"secateur/internal/rawjson"
)

// A Route says where a request goes.
type Route struct {
	Server string
	Params []byte // rewritten for the server; the same slice if unchanged

	Name string // the server's own name of the tool or prompt
	URI  string // the server's own URI of the resource or template
	Task string // the server's own id of the task

	Asked string // the client's value of Name, URI or Task
}

// Outgoing returns the rewriter for the answer to the request.
func (r Route) Outgoing() Outgoing {
	o := Outgoing{Server: r.Server}
	if r.URI != "" {
		o.Original, o.Asked = r.URI, r.Asked
	}
	return o
}

// A ParamsError reports params that cannot be used. The client gets it with the code for invalid
// params.
type ParamsError struct {
	Path    string   // JSON Pointer into the params
	Problem string   // for people
	Servers []string // the matching servers, if the name is ambiguous
	Err     error    // ErrStaleCursor or nil
}

func (e *ParamsError) Error() string { return e.Problem }

func (e *ParamsError) Unwrap() error { return e.Err }

// Routed reports whether Route supports a method.
func Routed(method string) bool {
	switch method {
	case "tools/call", "prompts/get", "resources/read", "resources/subscribe", "resources/unsubscribe",
		"completion/complete", "tasks/get", "tasks/update", "tasks/cancel", "tasks/result":
		return true
	default:
		return false
	}
}

// Route finds the server of a request by the name, URI or task in its params, and substitutes the
// server's own. Params must be well-formed. The error is a *ParamsError, also for a method that is
// not Routed.
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

// unknown returns the error for an unknown name, URI or id.
func unknown(what, path, asked string) *ParamsError {
	return &ParamsError{Path: path, Problem: "unknown " + what + ": " + clipped(asked)}
}

// Unknown returns Route's error for the name, URI or task of a request as if it were unknown. It
// returns nil for a request without any of them.
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

// routeRef handles completion for a prompt's argument or a template's variable.
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

// SubscriptionURIs returns the URIs in a subscriptions/listen, as the client wrote them. They may
// belong to different servers.
func SubscriptionURIs(params []byte) []string { return subscriptions(params, "resourceSubscriptions") }

// SubscriptionTasks returns the tasks in a subscriptions/listen, as the client wrote them. They may
// belong to different servers.
func SubscriptionTasks(params []byte) []string { return subscriptions(params, "taskIds") }

// subscriptions returns the strings in one list of a subscriptions/listen.
func subscriptions(params []byte, name string) []string {
	var found []string
	for raw := range rawjson.Items(rawjson.Get(rawjson.Get(params, "notifications"), name)) {
		if s, ok := rawjson.Text(raw); ok {
			found = append(found, s)
		}
	}
	return found
}

// textAt returns the required string at a span of the params.
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

// replaced replaces a string if it differs.
func replaced(doc []byte, at rawjson.Span, old, now string) []byte {
	if old == now {
		return doc
	}
	return rawjson.Replace(doc, at, rawjson.AppendQuoted(nil, now))
}

// clipped shortens a client's text for an error message.
func clipped(s string) string {
	const most = 200
	if rawjson.Chars(s) > most {
		return firstChars(s, most) + "…"
	}
	return s
}
