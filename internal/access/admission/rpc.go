package admission

import (
	"bytes"
	"math"
	"net/http"
	"strconv"
	"strings"

	"secateur/internal/access"
	"secateur/internal/access/limit"
	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/wire"
	"secateur/internal/rawjson"
)

// Error returns a refusal as a JSON-RPC error with HTTP status and headers. The door itself answers
// for a denied server, since it knows the others.
func (r *Refusal) Error() (e *wire.Error, status int, header http.Header) {
	if r.Limit != nil {
		seconds := max(1, int(math.Ceil(r.Limit.RetryAfter.Seconds())))
		e = wire.RateLimited(seconds, r.Limit.Limit)
		e.Data.Extra = rawjson.AppendQuoted([]byte(`"limit":`), r.Limit.Limit)
		header = http.Header{"Retry-After": {strconv.Itoa(seconds)}}
		SetHeaders(header, r.Limit.State)
		return e, http.StatusTooManyRequests, header
	}
	switch r.Pin {
	case PinChanged:
		e = wire.NewError(wire.CodeForbidden, "the definition of "+clip(r.Target.String())+" is not one that was pinned")
		e.Data.Hint = "secateur pins approve " + r.pinName()
	case PinUnchecked:
		e = wire.NewError(wire.CodeForbidden, "the definition of "+clip(r.Target.String())+" may not be the one that was pinned: its server does not list it now")
		e.Data.Hint = "see what the server says: secateur status"
	}
	if r.Pin != "" {
		e.Data.Extra = []byte(`"reason":"` + r.Pin + `"`)
		return e, http.StatusForbidden, nil
	}
	if r.Rule != "" {
		e = wire.NewError(wire.CodeForbidden, "denied by the rule "+r.Rule+": "+r.Target.String())
		e.Data.Extra = rawjson.AppendQuoted([]byte(`"rule":`), r.Rule)
		return e, http.StatusForbidden, nil
	}
	if r.Target.Kind == access.KindNone {
		return wire.NewError(wire.CodeMethodNotFound, "method not found: "+clip(r.Method)), 0, nil
	}
	name, path := clip(r.Target.Name), "/name"
	if r.Target.Kind == access.KindResource {
		path = "/uri"
	}
	e = wire.NewError(wire.CodeInvalidParams, "unknown "+r.Target.Kind.String()+": "+name)
	e.Data.Path = path
	return e, 0, nil
}

// pinName returns a target's name for 'secateur pins approve'.
func (r *Refusal) pinName() string {
	name := r.Target.Name
	if r.Target.Kind != access.KindTool {
		name = r.Target.Kind.String() + ":" + name
	}
	return r.Target.Server + "::" + name
}

// SetHeaders sets the rate limit headers, unless those already set have less left or s is zero.
func SetHeaders(h http.Header, s limit.State) {
	if s.IsZero() {
		return
	}
	if told, err := strconv.Atoi(h.Get("X-Ratelimit-Remaining")); err == nil && told <= max(0, s.Remaining) {
		return
	}
	h.Set("X-Ratelimit-Limit", strconv.Itoa(s.Limit))
	h.Set("X-Ratelimit-Remaining", strconv.Itoa(max(0, s.Remaining)))
	h.Set("X-Ratelimit-Reset", strconv.Itoa(int(math.Ceil(s.Reset.Seconds()))))
}

// Told is a snapshot of the rate limit headers.
type Told [len(limitHeaders)][]string

var limitHeaders = [...]string{"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"}

// ToldIn takes a snapshot of the rate limit headers.
func ToldIn(h http.Header) (t Told) {
	for i, name := range limitHeaders {
		t[i] = h[name]
	}
	return t
}

// Restore replaces the rate limit headers by the snapshot.
func (t Told) Restore(h http.Header) {
	for i, name := range limitHeaders {
		if delete(h, name); t[i] != nil {
			h[name] = t[i]
		}
	}
}

// TargetsOf returns the targets of a message to one server, by the server's own names. A name in an
// unknown method may mean anything, so it must be allowed as every kind.
func TargetsOf(door access.Door, server string, m *wire.Message) []access.Target {
	t := func(k access.TargetKind, name string) access.Target {
		return access.Target{Door: door, Server: server, Kind: k, Name: name}
	}
	switch m.Method {
	case "tools/call":
		return []access.Target{t(access.KindTool, m.Name)}
	case "prompts/get":
		return []access.Target{t(access.KindPrompt, m.Name)}
	case "resources/read", "resources/subscribe", "resources/unsubscribe":
		return []access.Target{t(access.KindResource, m.URI)}
	case "completion/complete":
		return completed(m.Params, t)
	}
	if m.Method == "subscriptions/listen" {
		var all []access.Target
		for _, uri := range catalog.SubscriptionURIs(m.Params) {
			all = append(all, t(access.KindResource, uri))
		}
		return all
	}
	if IsGeneral(m.Method) {
		return nil
	}
	all := []access.Target{t(access.KindNone, "")}
	if m.Name != "" {
		all = append(all, t(access.KindTool, m.Name), t(access.KindPrompt, m.Name))
	}
	if m.URI != "" {
		all = append(all, t(access.KindResource, m.URI))
	}
	return all
}

// completed returns the targets of a completion. If it names a prompt and a resource, both must be
// allowed, whatever its type.
func completed(params []byte, t func(access.TargetKind, string) access.Target) []access.Target {
	ref := rawjson.Get(params, "ref")
	prompt, uri := t(access.KindPrompt, rawjson.GetText(ref, "name")), t(access.KindResource, rawjson.GetText(ref, "uri"))
	switch {
	case rawjson.GetText(ref, "type") == "ref/prompt" && rawjson.Get(ref, "uri") == nil:
		return []access.Target{prompt}
	case rawjson.Get(ref, "name") == nil:
		return []access.Target{uri}
	}
	return []access.Target{prompt, uri}
}

// IsGeneral reports whether a method is about a server as a whole. Every caller who sees the server
// may use it.
func IsGeneral(method string) bool {
	switch method {
	case "initialize", "ping", "server/discover", "logging/setLevel", "tools/list", "prompts/list", "resources/list", "resources/templates/list",
		"subscriptions/listen", "tasks/get", "tasks/update", "tasks/cancel", "tasks/result", "tasks/list",
		"notifications/initialized", "notifications/cancelled", "notifications/progress", "notifications/roots/list_changed":
		return true
	}
	return false
}

// IsAboutConnection reports whether a method changes its connection. It must never go to a shared
// connection, not even as a notification: some servers treat one without an id as a request.
func IsAboutConnection(method string) bool {
	switch method {
	case "initialize", "notifications/initialized", "resources/subscribe", "resources/unsubscribe", "logging/setLevel", "subscriptions/listen":
		return true
	}
	return false
}

// RedactParams redacts what a caller sends: arguments, URIs, _meta, answers of people, params of
// unknown methods. Members that the protocol needs for routing stay.
func (p Permit) RedactParams(params []byte) []byte {
	if len(p.Redact) == 0 {
		return params
	}
	params = access.RedactMembers(params, p.Redact, access.InArguments, staysInParams)
	for _, inner := range []string{"_meta", "ref"} {
		if at := rawjson.Find(params, inner); !at.IsZero() {
			redacted := access.RedactMembers(at.Of(params), p.Redact, access.InArguments, staysInside)
			if !bytes.Equal(redacted, at.Of(params)) {
				params = rawjson.Replace(params, at, redacted)
			}
		}
	}
	return params
}

// staysInParams reports whether a member of params is needed for routing, or contains such members.
func staysInParams(name string) bool {
	switch name {
	case "name", "cursor", "taskId", "requestId", "progressToken", "requestState", "_meta", "ref":
		return true
	}
	return false
}

// staysInside is staysInParams for _meta and for the ref of a completion.
func staysInside(name string) bool {
	return name == "type" || name == "name" || name == "progressToken" || strings.HasPrefix(name, era.MetaPrefix)
}

// RedactAnswer redacts a client's whole response to a server's request: input of a person, or
// output of a model.
func (p Permit) RedactAnswer(response []byte) []byte {
	if len(p.Redact) == 0 {
		return response
	}
	return access.RedactMembers(response, p.Redact, access.InArguments, func(name string) bool { return name != "result" && name != "error" })
}

// RedactAnswer is Permit.RedactAnswer for a server's request outside any call.
func (c *Control) RedactAnswer(p *access.Principal, door access.Door, server string, response []byte) []byte {
	return c.about(p, door, server).RedactAnswer(response)
}

// RedactSaid redacts the params of a caller's message.
func (p Permit) RedactSaid(m *wire.Message) *wire.Message {
	params := p.RedactParams(m.Params)
	if len(params) == 0 || &params[0] == &m.Params[0] {
		return m
	}
	redacted := m.WithParams(params)
	return &redacted
}

// RedactSaid is Permit.RedactSaid for a notification without a target.
func (c *Control) RedactSaid(p *access.Principal, door access.Door, server string, m *wire.Message) *wire.Message {
	return c.about(p, door, server).RedactSaid(m)
}

// about returns a permit with the redactions that may apply to anything of a server.
func (c *Control) about(p *access.Principal, door access.Door, server string) Permit {
	if c == nil || c.rules == nil {
		return Permit{}
	}
	return Permit{Redact: c.rules.About(p, door, server)}
}

// RedactResult redacts a result or an error.
func (p Permit) RedactResult(result []byte) []byte {
	if len(p.Redact) == 0 || len(result) == 0 {
		return result
	}
	return access.Redact(result, p.Redact, access.InResults)
}

// RedactNotice redacts a server's message to a caller outside any call.
func (c *Control) RedactNotice(p *access.Principal, door access.Door, server string, m *wire.Message) *wire.Message {
	return c.about(p, door, server).RedactNotice(m)
}

// RedactNotice redacts a server's message during a call: progress, log messages, requests.
func (p Permit) RedactNotice(m *wire.Message) *wire.Message {
	redacted := p.RedactResult(m.Params)
	if len(redacted) == 0 || &redacted[0] == &m.Params[0] {
		return m
	}
	changed := m.WithParams(redacted)
	return &changed
}

// ListTarget returns the target for an item of a server's list, by the server's own name or URI.
// For a template it is the part before its first variable.
func ListTarget(door access.Door, server string, l catalog.List, original string) access.Target {
	t := access.Target{Door: door, Server: server, Name: original}
	switch l {
	case catalog.Tools:
		t.Kind = access.KindTool
	case catalog.Prompts:
		t.Kind = access.KindPrompt
	default:
		t.Kind = access.KindResource
		if l == catalog.Templates {
			t.Name, _, _ = strings.Cut(original, "{")
		}
	}
	return t
}
