package aggregate

import (
	"bytes"
	"context"
	"strings"

	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/downstream"
	"secateur/internal/mcp/wire"
	"secateur/internal/rawjson"
)

// found is what a request is beside its message where tools are found instead of listed.
type found struct {
	isHidden bool          // a tool is called that the client does not list
	via      string        // the tool of our own through which; "": by its own name
	came     *wire.Message // the message that came, where it was another
}

// unwrapped turns a call through call_tool into the call that is meant: rules, limits, cuts and metrics see nothing else. The reply
// is for a call that means nothing.
func (s *clientConn) unwrapped(c *client, a request, p catalog.ToolProfile) (request, *reply) {
	isCall := a.Name == callTool && !p.Split || p.Split && (a.Name == callToolRead || a.Name == callToolWrite)
	if !isCall {
		return a, nil
	}
	wrong := func(text string) (request, *reply) {
		r := s.toolAnswer(c, a, answer{text: text, isError: true})
		return a, &r
	}
	given := rawjson.Get(a.Params, "arguments")
	name, ok := rawjson.Text(rawjson.Get(given, "name"))
	if !ok || name == "" {
		return wrong(a.Name + ` needs {"name": "server::tool", "arguments": {…}}`)
	}
	arguments := rawjson.Get(given, "arguments")
	if text, isText := rawjson.Text(arguments); isText { // some models write objects as strings
		arguments = []byte(strings.TrimSpace(text))
		if len(arguments) == 0 {
			arguments = []byte("{}")
		}
		if err := rawjson.Check(arguments, wire.MaxRequestDepth); err != nil {
			return wrong("arguments: expected an object; the string is not JSON: " + err.Error())
		}
	}
	switch {
	case rawjson.IsNothing(arguments):
		arguments = []byte("{}")
	case !rawjson.IsObject(arguments):
		return wrong(`arguments: expected an object, such as {"path": "a.txt"}`)
	}
	params := rawjson.Set(a.Params, "name", rawjson.AppendQuoted(nil, name))
	params = rawjson.Set(params, "arguments", arguments)
	meant := a.WithParams(params)
	a.via, a.came = a.Name, a.Message
	a.Message = &meant
	return a, nil
}

// withBareName has a tool called by its bare name where the caller sees one of that name, though other servers have it too.
func (s *clientConn) withBareName(ctx context.Context, c *client, a request) request {
	if strings.Contains(a.Name, catalog.ContractSeparator) {
		return a
	}
	lists, _ := c.member.Catalog(ctx)
	name := a.onlyVisible(c.view(lists), a.Name)
	if name == a.Name {
		return a
	}
	if a.came == nil {
		a.came = a.Message
	}
	meant := a.WithParams(rawjson.Set(a.Params, "name", rawjson.AppendQuoted(nil, name)))
	a.Message = &meant
	return a
}

// onlyVisible is the whole name of the only tool of a bare name that the caller sees; else the name as it is.
func (a request) onlyVisible(v *catalog.View, name string) string {
	if _, _, ok := v.ResolveTool(name); ok {
		return name
	}
	found := ""
	for at := range v.Each(catalog.Tools) {
		if at.Name != name || !a.lists(catalog.Tools, at.Server, at.Name) {
			continue
		}
		if found != "" {
			return name
		}
		found = at.Server + catalog.ContractSeparator + at.Name
	}
	if found == "" {
		return name
	}
	return found
}

// settled is a tool's definition, once its server has listed: a client may call a tool that it found in another session. It is nil
// where the server does not list the tool.
func (s *clientConn) settled(ctx context.Context, c *client, d destination) []byte {
	if err := c.member.Settle(ctx, d.server, catalog.Tools); err != nil {
		return nil
	}
	raw, _ := known(ctx, c.member).Tool(d.server, d.tool)
	return raw
}

// unfit answers a call that the caller may make and that cannot succeed: a tool that may change something through call_tool_read, or
// arguments that do not fit. It answers with what is wrong and the schema.
func (s *clientConn) unfit(c *client, a request, d destination) (reply, bool) {
	if !a.isHidden || d.raw == nil || a.Method != "tools/call" {
		return reply{}, false
	}
	if a.via == callToolRead && string(rawjson.Get(rawjson.Get(d.raw, "annotations"), "readOnlyHint")) != "true" {
		return s.toolAnswer(c, a, answer{text: d.contractName() + " does not say that it changes nothing: call it with " + callToolWrite, isError: true}), true
	}
	schema := rawjson.Get(d.raw, "inputSchema")
	problems := misfits(schema, rawjson.Get(d.params, "arguments"))
	if len(problems) == 0 {
		return reply{}, false
	}
	r := s.toolAnswer(c, a, answer{text: "wrong arguments for " + d.contractName() + ": " + strings.Join(problems, "; ") + schemaText(schema), isError: true})
	r.outcome = "wrong_arguments"
	return r, true
}

func (d destination) contractName() string { return d.server + catalog.ContractSeparator + d.tool }

// schemaText is a schema for a model that has not seen it.
func schemaText(schema []byte) string {
	if len(schema) == 0 {
		return ""
	}
	if len(schema) > maxSchema {
		return "\ndescribe_tools gives the schema."
	}
	return "\nschema: " + string(schema)
}

// explained adds the schema to a server's own refusal of a tool's arguments, which its caller has never seen, and the nearest names to
// its refusal of a tool that it does not list. What such a server says as an
// error of the protocol becomes a result: models read those.
func (s *clientConn) explained(ctx context.Context, c *client, a request, tool []byte, r reply) reply {
	if !a.isHidden || a.Method != "tools/call" || r.failed != nil || len(r.Body) > maxRefusal {
		return r
	}
	isError := bytes.Contains(r.Body, []byte(`"isError":true`)) || bytes.Contains(r.Body, []byte(`"isError": true`))
	if !isError && !bytes.Contains(r.Body, []byte(`-32602`)) {
		return r
	}
	msg, err := wire.ParseServer(r.Body, 0)
	if err != nil {
		return r
	}
	note := schemaText(rawjson.Get(tool, "inputSchema"))
	if tool == nil { // its server does not list it
		index, _ := s.index(ctx, c, a)
		note = nearest(index, a.Name)
	}
	switch {
	case msg.Error != nil && msg.ErrorCode() == wire.CodeInvalidParams:
		text := rawjson.GetText(msg.Error, "message")
		explained := s.toolAnswer(c, a, answer{text: text + note, isError: true})
		explained.outcome = "server_error"
		explained.Stream = r.Stream
		if r.Release != nil {
			r.Release()
		}
		return explained
	case msg.Result != nil && string(rawjson.Get(msg.Result, "isError")) == "true" && (tool == nil || blamesArguments(msg.Result)):
		content := rawjson.Get(msg.Result, "content")
		if len(content) < 2 || content[0] != '[' {
			return r
		}
		item := rawjson.Object(`{"type":"text"`)
		item.Text("text", strings.TrimLeft(note, "; \n"))
		item = append(item, '}')
		grown := append([]byte(nil), content[:len(content)-1]...)
		if len(bytes.TrimSpace(grown)) > 1 {
			grown = append(grown, ',')
		}
		now := msg.WithResult(rawjson.Set(msg.Result, "content", append(append(grown, item...), ']')))
		return reply{Answer: downstream.Answer{Body: now.Raw, Stream: r.Stream, Header: r.Header, Release: r.Release}, outcome: r.outcome}
	}
	return r
}

// maxRefusal is the longest answer that is looked through for a refusal.
const maxRefusal = 64 << 10

// blamesArguments reports whether a failed result says that the arguments are wrong.
func blamesArguments(result []byte) bool {
	for item := range rawjson.Items(rawjson.Get(result, "content")) {
		text := strings.ToLower(rawjson.GetText(item, "text"))
		for _, sign := range []string{"-32602", "invalid argument", "input validation", "validation error", "invalid_type", "missing required", "required property", "invalid params"} {
			if strings.Contains(text, sign) {
				return true
			}
		}
	}
	return false
}

// unknownTool tells a caller whose tool is not known which ones are near. A tool that is denied is answered in the same words.
func (s *clientConn) unknownTool(ctx context.Context, c *client, a request, p catalog.ToolProfile, r reply) reply {
	if r.failed == nil || a.Method != "tools/call" || !p.Finds() || !isUnknownTool(r.failed) {
		return r
	}
	index, _ := s.index(ctx, c, a)
	text := r.failed.err.Message + nearest(index, a.Name)
	if a.via == "" {
		e := *r.failed.err
		e.Message = text
		r.failed.err = &e
		return r
	}
	explained := s.toolAnswer(c, a, answer{text: text, isError: true})
	explained.outcome = r.failed.err.Data.Code
	return explained
}

func isUnknownTool(f *failure) bool {
	return f.object == nil && f.err.Code == wire.CodeInvalidParams && f.err.Data.Path == "/name" && strings.HasPrefix(f.err.Message, "unknown tool: ")
}
