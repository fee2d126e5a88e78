package config

import (
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"secateur/internal/mcp/upstream"
)

// clientServer converts one server of a client's file.
type clientServer struct {
	*decoder
	at       spot
	dir      string // of the file: the base of relative names
	readFile func(string) ([]byte, error)
	isGemini bool // its timeouts are in milliseconds, whatever their size

	out, env, fileEnv, headers *node
	args                       []*node
}

func (c *clientServer) translate(m member, taken map[string]bool) *node {
	if m.value.kind != kindTable {
		c.wrongKind(m.value, c.at, "a table")
		if last := &c.found[len(c.found)-1]; !c.json && strings.HasPrefix(c.at.label, "servers.") {
			last.text += "; write [[servers]] to begin a server"
		}
		return nil
	}
	c.out.label = c.at.label
	c.putID(m, taken)
	for _, key := range m.value.members {
		if key.value.kind != kindNull {
			c.key(key)
		}
	}
	c.finish()
	return c.out
}

// longName is the length above which the last telling part of a path stands for the whole name.
const longName = 32

// tellingPart returns the last part of a path that says which server it is.
func tellingPart(name string) string {
	parts := strings.Split(name, "/")
	for _, part := range slices.Backward(parts) {
		switch strings.ToLower(part) {
		case "", "src", "dist", "build", "main", "master", "tree", "blob", "packages", "mcp", "server", "servers", "mcp-server", "mcp-servers", "latest":
		default:
			return part
		}
	}
	return name
}

// putID makes an id of a name: what an id may not have becomes -, and a taken one gets a number.
func (c *clientServer) putID(m member, taken map[string]bool) {
	name := m.name
	if len(name) > longName {
		name = tellingPart(name)
	}
	base := strings.Map(func(r rune) rune {
		if r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, name)
	if base == "" {
		base = "server"
	}
	id := base
	for n := 2; taken[id]; n++ {
		id = base + "-" + strconv.Itoa(n)
	}
	taken[id] = true
	if id != m.name {
		c.warn(c.at, "the server's id is %q here", id)
	}
	c.set("id", "id", m.off, newString(id, m.off))
}

// key converts one key of the server.
func (c *clientServer) key(m member) {
	at := c.spot(m)
	switch m.name {
	case "command":
		c.command(m, at)
	case "args":
		if m.value.kind != kindList {
			c.wrongKind(m.value, at, "a list of strings")
			return
		}
		c.args = make([]*node, len(m.value.items))
		for i, item := range m.value.items {
			arg := *item
			arg.label = at.item(i, item).label
			c.args[i] = &arg
		}
	case "env", "environment":
		c.merge(c.env, m, at)
	case "env_vars":
		c.passVariables(m, at)
	case "enabled_tools", "includeTools":
		c.toolNames("tools", m, at)
	case "disabled_tools", "excludeTools", "disabledTools":
		c.toolNames("exclude_tools", m, at)
	case "oauth":
		c.oauth(m, at)
	case "envFile":
		c.envFile(m, at)
	case "headers", "http_headers":
		c.merge(c.headers, m, at)
	case "env_http_headers":
		c.headersFromVariables(m, at)
	case "bearer_token_env_var":
		c.header("Authorization", "Bearer ", m, at)
	case "enabled":
		if m.value.kind != kindBool {
			c.wrongKind(m.value, at, "true or false")
		} else if m.value.text == "false" {
			c.set("disabled", m.name, m.off, &node{kind: kindBool, text: "true", off: m.off})
		}
	case "type", "transport":
		c.transport(m, at)
	case "url", "httpUrl", "serverUrl":
		c.set("url", m.name, m.off, m.value)
	case "timeout":
		c.timeout(m, at)
	case "tool_timeout_sec":
		c.set("response_timeout", m.name, m.off, m.value)
	case "startup_timeout_sec":
		c.set("startup_timeout", m.name, m.off, m.value)
	case "id", "builtin":
		c.warn(at, "ignored in a server listed by name")
	default:
		if _, ours := c.shape(reflect.TypeFor[upstream.Settings]()).index[m.name]; ours {
			c.set(m.name, m.name, m.off, m.value)
		} else if !isForOthers(m.name) {
			c.warn(at, "ignored: not a key that is understood here")
		}
	}
}

func (c *clientServer) spot(m member) spot { return c.at.key(m.name, m.name, m.off) }

// set assigns one of our keys. If two of a client's keys mean the same one, the first counts.
func (c *clientServer) set(name, label string, off int, value *node) {
	if !c.out.put(member{name: name, label: label, off: off, value: value}) {
		c.warn(c.at.key(label, label, off), "ignored: another key says the same")
	}
}

func (c *clientServer) command(m member, at spot) {
	switch m.value.kind {
	case kindString:
		c.set("command", m.name, m.off, &node{kind: kindList, off: m.off, items: []*node{m.value}})
	case kindList:
		c.set("command", m.name, m.off, m.value)
	default:
		c.wrongKind(m.value, at, "a string")
	}
}

// merge takes a table of strings. Clients also write numbers and booleans there, and null for
// nothing.
func (c *clientServer) merge(into *node, m member, at spot) {
	into.off = m.off
	if m.value.kind != kindTable {
		c.wrongKind(m.value, at, "a table of strings")
		return
	}
	for _, v := range m.value.members {
		value := v.value
		switch value.kind {
		case kindNull:
			continue
		case kindInteger, kindFloat, kindBool:
			value = newString(value.text, v.off)
		}
		into.put(member{name: v.name, off: v.off, value: value})
	}
}

// passVariables hands the child variables of our own environment, those that are set. Codex names them, or writes { name = … }.
func (c *clientServer) passVariables(m member, at spot) {
	if m.value.kind != kindList {
		c.wrongKind(m.value, at, "a list of strings")
		return
	}
	names := &node{kind: kindList, off: m.off}
	for i, item := range m.value.items {
		if name := item.get("name"); item.kind == kindTable && name != nil {
			item = name
		}
		if item.kind != kindString || !isVariableName(item.text) {
			c.complain(at.item(i, item), "expected the name of a variable")
			continue
		}
		names.items = append(names.items, item)
	}
	c.set("pass_env", m.name, m.off, names)
}

// toolNames takes a list of tools under one of our keys. Gemini may write arguments behind a name.
func (c *clientServer) toolNames(key string, m member, at spot) {
	if m.value.kind != kindList {
		c.wrongKind(m.value, at, "a list of strings")
		return
	}
	names := &node{kind: kindList, off: m.off}
	for i, item := range m.value.items {
		if item.kind != kindString {
			c.wrongKind(item, at.item(i, item), "a string")
			continue
		}
		name, _, _ := strings.Cut(item.text, "(")
		names.items = append(names.items, newString(name, item.off))
	}
	if len(names.items) > 0 {
		c.set(key, m.name, m.off, names)
	}
}

// oauth takes over what a client's sign-in says that ours needs too: its id.
func (c *clientServer) oauth(m member, at spot) {
	if m.value.kind != kindTable || m.value.get("clientId") == nil {
		if m.value.kind == kindTable && m.value.get("client_id") == nil && m.value.get("flow") == nil {
			c.warn(at, "ignored: 'secateur login' signs in anew")
			return
		}
		c.set(m.name, m.name, m.off, m.value) // in our own words
		return
	}
	out := newTable(m.off, fromValue)
	out.put(member{name: "flow", off: m.off, value: newString("login", m.off)})
	for _, key := range m.value.members {
		switch key.name {
		case "clientId":
			out.put(member{name: "client_id", label: key.name, off: key.off, value: key.value})
		case "clientSecret":
			out.put(member{name: "client_secret", label: key.name, off: key.off, value: key.value})
		case "scope":
			out.put(key)
		default:
			c.warn(at.key(key.name, key.name, key.off), "ignored: 'secateur login' does without it")
		}
	}
	c.set(m.name, m.name, m.off, out)
}

func (c *clientServer) headersFromVariables(m member, at spot) {
	if m.value.kind != kindTable {
		c.wrongKind(m.value, at, "a table of strings")
		return
	}
	for _, h := range m.value.members {
		c.header(h.name, "", h, at.key(h.name, h.name, h.off))
	}
}

// header takes a header's value from the variable that a key names.
func (c *clientServer) header(name, prefix string, variable member, at spot) {
	if variable.value.kind != kindString || !isVariableName(variable.value.text) {
		c.complain(at, "expected the name of a variable")
		return
	}
	value := newString(prefix+"${"+variable.value.text+"}", variable.off)
	value.label = at.label
	c.headers.put(member{name: name, off: variable.off, value: value})
}

// envFile adds the variables of a file. The server's own env takes precedence, regardless of order.
func (c *clientServer) envFile(m member, at spot) {
	name, ok := c.text(m.value, at)
	if !ok {
		return
	}
	if c.readFile == nil {
		c.complain(at, "no files can be read here")
		return
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(c.dir, name)
	}
	data, err := c.readFile(name)
	if err != nil {
		c.complain(at, "cannot be read: %s", cause(err))
		return
	}
	variables, err := parseEnvFile(data)
	if err != nil {
		c.complain(at, "%v", err)
		return
	}
	for _, v := range variables {
		value := newString(strings.ReplaceAll(v.value, "${", "$${"), m.off)
		value.outside = true
		c.fileEnv.put(member{name: v.name, off: m.off, value: value})
	}
}

// transport maps a client's type to our transport.
func (c *clientServer) transport(m member, at spot) {
	word, ok := c.text(m.value, at)
	if !ok {
		return
	}
	switch strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(word)) {
	case "stdio", "local":
	case "http", "streamablehttp", "remote":
		c.set("transport", m.name, m.off, newString(upstream.TransportHTTP, m.off))
	case "sse":
		c.set("transport", m.name, m.off, newString(upstream.TransportSSE, m.off))
	case "rpc":
		c.set("transport", m.name, m.off, newString(upstream.TransportRPC, m.off))
	default:
		c.complain(at, "expected stdio, http or sse")
	}
}

// manySeconds is the value from which a client's timeout must be in milliseconds. Some clients
// count seconds and allow an hour; others count milliseconds and start at tens of thousands.
const manySeconds = 10_000

func (c *clientServer) timeout(m member, at spot) {
	f, ok := c.number(m.value, at, "a number of seconds")
	if !ok {
		return
	}
	value := m.value
	if f >= manySeconds || c.isGemini {
		value = &node{kind: kindFloat, text: strconv.FormatFloat(f/1000, 'g', -1, 64), off: m.off}
	}
	c.set("response_timeout", m.name, m.off, value)
}

// finish combines the results of several keys, and drops what this kind of server cannot use.
func (c *clientServer) finish() {
	for _, m := range c.fileEnv.members {
		c.env.put(m)
	}
	command, url := c.out.get("command"), c.out.get("url")
	if command != nil && len(c.args) > 0 {
		c.out.replace("command", &node{kind: kindList, off: command.off, items: slices.Concat(command.items, c.args)})
	}
	remote := url != nil && command == nil
	if remote && c.out.get("transport") == nil && path.Base(url.text) == "sse" {
		c.out.put(member{name: "transport", off: url.off, value: newString(upstream.TransportSSE, url.off)})
	}
	for _, part := range []struct {
		name   string
		value  *node
		useful bool
	}{{"env", c.env, !remote}, {"headers", c.headers, url != nil}} {
		switch {
		case len(part.value.members) == 0:
		case part.useful:
			c.out.put(member{name: part.name, off: part.value.off, value: part.value})
		default:
			c.warn(c.at.key(part.name, part.name, part.value.off), "ignored: of no use to a server of this kind")
		}
	}
	if cwd := c.out.get("cwd"); remote && cwd != nil {
		c.warn(c.at.key("cwd", "cwd", cwd.off), "ignored: of no use to a server of this kind")
		c.out = c.out.without("cwd")
	}
}
