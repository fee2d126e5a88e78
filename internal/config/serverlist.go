package config

import (
	"slices"
	"strings"

	"secateur/internal/config/document"
)

// ServerList has the servers of a configuration or of a client's file, in our keys and with
// variables unexpanded.
type ServerList struct {
	Servers  []FileServer
	Into     document.Place  // where another server goes; its Name must still be set
	Taken    map[string]bool // ids that another server may not have
	Warnings []Problem
}

// FileServer is one server of a file.
type FileServer struct {
	ID     string
	Place  document.Place
	Fields []document.Field // id first
	Own    bool             // what 'secateur connect' wrote
}

// openCodeGroup is where OpenCode and Crush list their servers.
const openCodeGroup = "mcp"

// foreignGroups are read from a client's file, and are no keys of a configuration: those of OpenCode and Crush, Zed, Amp.
var foreignGroups = []string{openCodeGroup, "context_servers", "amp.mcpServers"}

// ReadServers lists the servers of a file: a configuration, or that of any client that 'import' knows, YAML included.
// Ids in taken are given to no server that is listed by name.
func ReadServers(path string, data []byte, opt Options, taken map[string]bool) (ServerList, []Problem) {
	list := ServerList{Into: document.Place{Group: "servers", List: true}, Taken: map[string]bool{}}
	if opt.Lookup == nil {
		opt.Lookup = func(string) (string, bool) { return "", false }
	}
	data, refused := readableText(data)
	if refused != nil {
		return list, problems(path, data, []finding{*refused})
	}
	root, found, whole := parse(document.FormatOf(path, data), data)
	if !whole {
		return list, problems(path, data, found)
	}
	d := newDecoder(opt, document.FormatOf(path, data) == document.JSON, nil)
	d.lax = true
	for id := range takenIDs(root) {
		list.Taken[id] = true
	}
	for id := range taken {
		list.Taken[id] = true
	}
	hasGroup := false
	for _, m := range root.members {
		switch {
		case m.name == "servers" && m.value.kind == kindList:
			list.addItems(m)
		case m.value.kind == kindTable && (slices.Contains(clientGroups, m.name) || slices.Contains(foreignGroups, m.name)):
			if !hasGroup && root.get("servers").isNot(kindList) {
				list.Into = document.Place{Group: m.name}
			}
			hasGroup = true
			if m.name == openCodeGroup {
				nameVariables(m.value)
			}
			if isGeminiFile(path) {
				braceVariables(m.value)
			}
			for _, entry := range m.value.members {
				c := d.clientServer(m.name, entry, len(list.Servers), path, opt.ReadFile)
				if m.name == openCodeGroup {
					c.includeFiles(entry.value)
				}
				out := c.translate(entry, list.Taken)
				if out != nil {
					list.add(out, document.Place{Group: m.name, Name: entry.name})
					list.Servers[len(list.Servers)-1].Own = isOwn(entry.name, out)
				}
			}
		}
	}
	d.hideVariables()
	list.Warnings = problems(path, data, d.found)
	return list, nil
}

func (n *node) isNot(k kind) bool { return n == nil || n.kind != k }

func parse(f document.Format, data []byte) (*node, []finding, bool) {
	switch f {
	case document.JSON:
		return parseJSON(data)
	case document.YAML:
		return parseYAML(data)
	default:
		return parseTOML(data)
	}
}

func (l *ServerList) addItems(m member) {
	for i, item := range m.value.items {
		if item.kind == kindTable {
			l.add(item, document.Place{Group: m.name, Index: i})
		}
	}
}

func (l *ServerList) add(entry *node, at document.Place) {
	s := FileServer{Place: at}
	if id := entry.get("id"); id != nil {
		s.ID = id.text
	}
	s.Fields, _ = written(entry).([]document.Field)
	l.Servers = append(l.Servers, s)
}

// written converts a value into the form of the document package.
func written(n *node) any {
	switch n.kind {
	case kindTable:
		fields := []document.Field{}
		for _, m := range n.members {
			if m.value.kind != kindNull {
				fields = append(fields, document.Field{Name: m.name, Value: written(m.value)})
			}
		}
		return fields
	case kindList:
		items := []any{}
		for _, item := range n.items {
			items = append(items, written(item))
		}
		return items
	case kindInteger, kindFloat:
		return document.Number(n.text)
	case kindBool:
		return n.text == "true"
	}
	return n.text
}

// ReadsEnvironment returns the first key of a server that reads the environment or a file of this
// machine, or "". In clients' files, some keys name variables without ${…}.
func ReadsEnvironment(fields []document.Field) string {
	for _, f := range fields {
		switch f.Name {
		case "env_vars", "envFile", "env_http_headers", "bearer_token_env_var":
			return f.Name
		}
		if namesVariable(f.Value) {
			return f.Name
		}
	}
	return ""
}

func namesVariable(value any) bool {
	switch v := value.(type) {
	case []document.Field:
		return slices.ContainsFunc(v, func(f document.Field) bool { return namesVariable(f.Name) || namesVariable(f.Value) })
	case []any:
		return slices.ContainsFunc(v, namesVariable)
	case string:
		return strings.Contains(strings.ReplaceAll(v, "$${", ""), "${") || strings.Contains(v, "{env:")
	}
	return false
}

// VariablesOf returns the variables that a server's values use without a default.
func VariablesOf(value any) []string {
	var out []string
	switch v := value.(type) {
	case []document.Field:
		for _, f := range v {
			out = append(out, VariablesOf(f.Value)...)
		}
	case []any:
		for _, item := range v {
			out = append(out, VariablesOf(item)...)
		}
	case string:
		expand(v, func(name string) (string, bool) {
			if strings.Contains(v, "${"+name+"}") || strings.Contains(v, "${env:"+name+"}") {
				out = append(out, name)
			}
			return "", false
		})
	}
	return out
}
