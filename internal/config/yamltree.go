package config

import (
	"errors"
	"strings"

	"go.yaml.in/yaml/v3"

	"secateur/internal/config/document"
)

// parseYAML reads a client's YAML into a tree. A list of named servers becomes a table by name, as
// other clients write it. Aliases are not followed.
func parseYAML(data []byte) (root *node, found []finding, whole bool) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return newTable(0, fromValue), []finding{{place: place{off: noOffset}, text: "not YAML: " + strings.TrimPrefix(err.Error(), "yaml: ")}}, false
	}
	if len(doc.Content) == 0 {
		return newTable(0, fromValue), nil, true
	}
	y := yamlTree{lines: document.LineStarts(data)}
	root, err := y.value(doc.Content[0], 0)
	if err == nil && root.kind != kindTable {
		err = errors.New("expected keys at the top level")
	}
	if err != nil {
		return newTable(0, fromValue), []finding{{place: place{off: noOffset}, text: "not YAML: " + err.Error()}}, false
	}
	for _, group := range clientGroups {
		if list := root.get(group); list != nil && list.kind == kindList {
			root.replace(group, byName(list))
		}
	}
	return root, nil, true
}

type yamlTree struct{ lines []int }

func (y yamlTree) offset(n *yaml.Node) int {
	if n.Line < 1 || n.Line > len(y.lines) {
		return 0
	}
	return y.lines[n.Line-1] + n.Column - 1
}

func (y yamlTree) value(n *yaml.Node, depth int) (*node, error) {
	if depth > maxDepth {
		return nil, errDepth
	}
	out := &node{off: y.offset(n), text: n.Value}
	switch n.Kind {
	case yaml.MappingNode:
		out.kind, out.text = kindTable, ""
		for i := 0; i+1 < len(n.Content); i += 2 {
			value, err := y.value(n.Content[i+1], depth+1)
			if err != nil {
				return nil, err
			}
			out.put(member{name: n.Content[i].Value, off: y.offset(n.Content[i]), value: value})
		}
	case yaml.SequenceNode:
		out.kind, out.text = kindList, ""
		for _, item := range n.Content {
			value, err := y.value(item, depth+1)
			if err != nil {
				return nil, err
			}
			out.items = append(out.items, value)
		}
	case yaml.AliasNode:
		return nil, errors.New("aliases are not understood here")
	default:
		out.kind = yamlKinds[n.Tag]
		if n.Tag == "!!str" {
			out.kind = kindString
		}
	}
	return out, nil
}

var yamlKinds = map[string]kind{
	"!!int": kindInteger, "!!float": kindFloat, "!!bool": kindBool, "!!null": kindNull, "!!timestamp": kindString, "!!binary": kindString,
}

// byName converts Continue's list of servers into a table. It also converts that client's ${{
// secrets.NAME }} and the headers of requestOptions into the common form.
func byName(list *node) *node {
	table := newTable(list.off, fromValue)
	for _, item := range list.items {
		name := item.get("name")
		if item.kind != kindTable || name == nil {
			continue
		}
		entry := item.without("name", "requestOptions")
		if headers := item.get("requestOptions").get("headers"); headers != nil {
			entry.put(member{name: "headers", off: headers.off, value: headers})
		}
		nameVariables(entry)
		table.put(member{name: name.text, off: item.off, value: entry})
	}
	return table
}

// nameVariables rewrites Continue's ${{ secrets.NAME }} and OpenCode's {env:NAME} as ${NAME}, in
// place.
func nameVariables(n *node) {
	for _, m := range n.members {
		nameVariables(m.value)
	}
	for _, item := range n.items {
		nameVariables(item)
	}
	if n.kind != kindString {
		return
	}
	n.text = strings.NewReplacer("${env:", "${env:", "{env:", "${env:").Replace(n.text)
	for {
		before, rest, found := strings.Cut(n.text, "${{")
		inner, after, closed := strings.Cut(rest, "}}")
		if !found || !closed {
			return
		}
		name := strings.TrimSpace(inner)
		n.text = before + "${" + name[strings.LastIndexByte(name, '.')+1:] + "}" + after
	}
}
