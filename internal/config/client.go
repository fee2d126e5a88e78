package config

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
)

// clientGroups are the keys under which clients list their servers by name: those of most clients,
// of Codex, and of VS Code. VS Code uses our key with another shape.
var clientGroups = []string{"mcpServers", "mcp_servers", "servers"}

// adoptClientServers rewrites servers that a client's file lists by name into entries of our own list, behind those
// that are there. A file without such servers comes back as it is.
func (d *decoder) adoptClientServers(root *node, path string, readFile func(string) ([]byte, error)) *node {
	adopted := &node{kind: kindList, off: root.off}
	var groups []member
	for _, m := range root.members {
		isGroup := slices.Contains(clientGroups, m.name)
		switch {
		case isGroup && m.value.kind == kindTable:
			groups = append(groups, m)
		case isGroup && m.name != "servers":
			d.wrongKind(m.value, spot{path: m.name, place: place{label: m.name, off: m.off}}, "a table of servers by name")
			groups = append(groups, member{name: m.name, off: m.off, value: newTable(m.off, fromValue)})
		case m.name == "servers" && m.value.kind == kindList:
			adopted.items = slices.Clone(m.value.items)
			adopted.off = m.off
		}
	}
	if len(groups) == 0 {
		return root
	}
	d.lax = true
	ids := takenIDs(root)
	if isGeminiFile(path) {
		for _, g := range groups {
			braceVariables(g.value)
		}
	}
	for _, g := range groups {
		for _, m := range g.value.members {
			c := d.clientServer(g.name, m, len(adopted.items), path, readFile)
			entry := c.translate(m, ids)
			if entry != nil && isRepositoryFile(path) {
				entry = entry.without("held")
				entry.put(member{name: "held", off: m.off, value: &node{kind: kindBool, text: "true", off: m.off}})
			}
			switch {
			case entry == nil:
			case isOwn(m.name, entry):
				d.warn(c.at, "left out: it starts secateur itself")
			default:
				adopted.items = append(adopted.items, entry)
			}
		}
	}
	out := root.without(clientGroups...)
	out.put(member{name: "servers", off: adopted.off, value: adopted})
	return out
}

// clientServer is what rewrites a server of a group into the entry at an index of our own list.
func (d *decoder) clientServer(group string, m member, index int, path string, readFile func(string) ([]byte, error)) *clientServer {
	return &clientServer{
		decoder: d, dir: filepath.Dir(path), readFile: readFile, isGemini: isGeminiFile(path),
		at:  spot{path: fmt.Sprintf("servers[%d]", index), place: place{label: join(group, m.name), off: m.off}},
		out: newTable(m.off, fromValue), env: newTable(m.off, fromValue),
		fileEnv: newTable(m.off, fromValue), headers: newTable(m.off, fromValue),
	}
}

// takenIDs returns the ids that a client's server may not get.
func takenIDs(root *node) map[string]bool {
	taken := map[string]bool{PrunerID: true}
	if enabled := root.get("mcp_pruner").get("enabled"); enabled != nil && enabled.text == "false" {
		delete(taken, PrunerID)
	}
	if own := root.get("servers"); own != nil {
		for _, item := range own.items {
			if id := item.get("id"); id != nil {
				taken[id.text] = true
			}
		}
	}
	return taken
}

// isGeminiFile reports the settings of Gemini CLI, by the place that they have in every project and home directory.
func isGeminiFile(path string) bool {
	return filepath.Base(path) == "settings.json" && filepath.Base(filepath.Dir(path)) == ".gemini"
}

// isRepositoryFile reports a client's file that is part of a project, so that others may have written it.
func isRepositoryFile(path string) bool {
	return filepath.Base(path) == ".mcp.json" || filepath.Base(filepath.Dir(path)) == ".vscode"
}

var bareVariable = regexp.MustCompile(`\$(\$?)([A-Za-z_][A-Za-z0-9_]*)`)

// braceVariables writes Gemini's $NAME as ${NAME}, in place.
func braceVariables(n *node) {
	for _, m := range n.members {
		braceVariables(m.value)
	}
	for _, item := range n.items {
		braceVariables(item)
	}
	if n.kind == kindString {
		n.text = bareVariable.ReplaceAllString(n.text, "$1$${$2}")
	}
}
