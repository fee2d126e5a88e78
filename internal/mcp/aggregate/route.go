package aggregate

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"secateur/internal/access"
	"secateur/internal/access/admission"
	"secateur/internal/cut/cutting"
	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/era"
	"secateur/internal/rawjson"
)

// destination is where a request goes.
type destination struct {
	server string
	params []byte          // as the server wants them
	tool   string          // of a tools/call, as the server calls it
	names  []access.Target // what the request names, in the server's own words
	raw    []byte          // the tool as the server lists it; nil where it does not
	found  bool            // its server is known only because it lists what is named

	goal    cutting.Goal     // of a tools/call whose result may be pruned for it
	session *cutting.Session // that it is in; nil: not known

	renames bool // what comes back is to be rewritten for this client
	out     catalog.Outgoing
}

// pass answers what is neither of the session nor of the handshake: lists, and what a server has to answer.
func (s *clientConn) pass(ctx context.Context, c *client, a request) reply {
	if s.only != "" {
		return s.admitted(ctx, c, a, s.onlyDestination(ctx, c, a))
	}
	if l, ok := catalog.ListOf(a.Method); ok {
		return s.list(ctx, c, a, l)
	}
	if !eraHas(c.era, a.Method) {
		return refused(unknownMethod(a.Method))
	}
	p := s.profileOf(c, a.now)
	if a.Method == "tools/call" && p.Finds() {
		if r, ok := s.ownTool(ctx, c, a); ok {
			return r
		}
		meant, r := s.unwrapped(c, a, p)
		if r != nil {
			return *r
		}
		a = s.withBareName(ctx, c, meant)
	}
	d, failed := s.route(ctx, c, a)
	if failed != nil {
		return s.unknownTool(ctx, c, a, p, refused(failed))
	}
	a.isHidden = p.Finds() && (a.via != "" || !p.Lists(d.server, d.tool))
	return s.unknownTool(ctx, c, a, p, s.admitted(ctx, c, a, d))
}

// admitted forwards what the rules allow, with what they redact taken out.
func (s *clientConn) admitted(ctx context.Context, c *client, a request, d destination) reply {
	if d.found {
		if no := a.now.Admission.Hidden(ctx, a.principal, a.Method, d.names...); no != nil {
			return refused(a.refusedBy(no))
		}
	}
	permit, failed := s.mayHave(ctx, c, a, d.server, d.names)
	if failed != nil {
		return refused(failed)
	}
	a.permit = permit
	if a.isHidden && d.raw == nil && a.Method == "tools/call" {
		d.raw = s.settled(ctx, c, d)
	}
	if r, no := s.unfit(c, a, d); no {
		permit.Done(len(a.Raw), len(r.Body))
		return r
	}
	raw := d.raw
	if params := permit.RedactParams(d.params); !same(params, d.params) {
		d.params, d.raw = params, nil // the headers that repeat arguments would tell
	}
	r := s.explained(ctx, c, a, raw, s.forward(ctx, c, a, d))
	permit.Done(len(a.Raw), len(r.Body))
	if state := permit.State(); !state.IsZero() && r.failed == nil {
		if r.Header == nil {
			r.Header = http.Header{}
		}
		admission.SetHeaders(r.Header, state)
	}
	return r
}

// eraHas reports whether a method that the other era knows exists in this one too.
func eraHas(e era.Era, method string) bool {
	switch method {
	case "tasks/result", "tasks/list":
		return e == era.Legacy
	case "tasks/update":
		return e == era.Modern
	}
	return true
}

// onlyDestination is the one server, and nothing is changed.
func (s *clientConn) onlyDestination(ctx context.Context, c *client, a request) destination {
	d := destination{server: s.only, params: a.Params, names: admission.TargetsOf(access.DoorMCP, s.only, a.Message)}
	if a.Method == "tools/call" {
		d.tool = a.Name
		d.raw, _ = known(ctx, c.member).Tool(s.only, a.Name)
	}
	return d
}

// route finds the server that a request is for.
func (s *clientConn) route(ctx context.Context, c *client, a request) (destination, *failure) {
	if !catalog.Routed(a.Method) {
		return s.routeUnknown(ctx, c, a)
	}
	lists := s.listsFor(ctx, c, a)
	view := c.view(lists)
	r, err := view.Route(a.Method, a.Params)
	if err != nil {
		if id := s.disabledOwner(a); id != "" {
			return destination{}, invalidParams("/name", fmt.Sprintf("server %q is disabled in the configuration or held until it is approved", id))
		}
		return destination{}, paramsFailed(a.unambiguous(err))
	}
	d := destination{server: r.Server, params: r.Params, renames: true, out: r.Outgoing(), names: namesOf(a.Method, r)}
	if a.Method == "completion/complete" { // its reference may name more than it is routed by
		asked := a.WithParams(r.Params)
		d.names = admission.TargetsOf(access.DoorMCP, r.Server, &asked)
	}
	d.found = d.names != nil && !view.NamesServer(r.Asked)
	if a.Method == "tools/call" {
		d.tool = r.Name
		d.raw, _ = lists.Tool(r.Server, r.Name)
	}
	return d, nil
}

// disabledOwner is the server that a request's name is of by its form, if that is switched off and the caller may know of it;
// else "".
func (s *clientConn) disabledOwner(a request) string {
	off := s.opt.Pool.DisabledIDs()
	if a.Name == "" || len(off) == 0 {
		return ""
	}
	id := catalog.Owner(a.Name, slices.Concat(off, s.servers()))
	if !slices.Contains(off, id) || !a.now.Admission.Sees(a.principal, access.DoorMCP, id) {
		return ""
	}
	return id
}

// listsFor are the lists that a request's names are looked up in. A name in the contract's own form names its server
// by itself, so that nobody has to wait for other servers.
func (s *clientConn) listsFor(ctx context.Context, c *client, a request) *catalog.Catalog {
	if id, _, ok := strings.Cut(a.Name, catalog.ContractSeparator); ok && slices.Contains(s.servers(), id) {
		return known(ctx, c.member)
	}
	lists, _ := c.member.Catalog(ctx)
	return lists
}

// routeUnknown is for a method that the protocol does not have, or not yet: it goes to the server that its name or
// URI belongs to.
func (s *clientConn) routeUnknown(ctx context.Context, c *client, a request) (destination, *failure) {
	if a.Name == "" && a.URI == "" {
		return destination{}, unknownMethod(a.Method)
	}
	lists := s.listsFor(ctx, c, a)
	view := c.view(lists)
	d := destination{renames: true}
	var original string
	var ok bool
	key := "name"
	if a.Name != "" {
		if d.server, original, ok = view.ResolveTool(a.Name); !ok {
			d.server, original, ok = view.ResolvePrompt(a.Name)
		}
	}
	if !ok && a.URI != "" {
		key = "uri"
		if d.server, original, ok = view.ResolveURI(a.URI); ok {
			d.out.Asked, d.out.Original = a.URI, original
		}
	}
	if !ok {
		return destination{}, unknownMethod(a.Method)
	}
	d.out.Server = d.server
	d.names = []access.Target{{Door: access.DoorMCP, Server: d.server}}
	if key == "uri" {
		d.names = append(d.names, access.Target{Door: access.DoorMCP, Server: d.server, Kind: access.KindResource, Name: original})
	} else {
		d.names = append(d.names, access.Target{Door: access.DoorMCP, Server: d.server, Kind: access.KindTool, Name: original},
			access.Target{Door: access.DoorMCP, Server: d.server, Kind: access.KindPrompt, Name: original})
		if a.URI != "" { // it goes along as it is, whatever the server makes of it
			d.names = append(d.names, access.Target{Door: access.DoorMCP, Server: d.server, Kind: access.KindResource, Name: a.URI})
		}
	}
	d.found = !view.NamesServer(rawjson.GetText(a.Params, key))
	d.params = rawjson.Set(a.Params, key, rawjson.AppendQuoted(nil, original))
	return d, nil
}

// namesOf is what a routed request names; nil where that is a task, which belongs to its server.
func namesOf(method string, r catalog.Route) []access.Target {
	t := access.Target{Door: access.DoorMCP, Server: r.Server}
	switch {
	case r.URI != "":
		t.Kind, t.Name = access.KindResource, r.URI
	case r.Name != "" && method == "tools/call":
		t.Kind, t.Name = access.KindTool, r.Name
	case r.Name != "":
		t.Kind, t.Name = access.KindPrompt, r.Name
	default:
		return nil
	}
	return []access.Target{t}
}
