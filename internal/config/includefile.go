package config

import (
	"path/filepath"
	"strings"
)

// includeFiles puts the content of files in place of OpenCode's {file:PATH}, and says so: it does not follow later changes.
func (c *clientServer) includeFiles(n *node) {
	for _, m := range n.members {
		c.includeFiles(m.value)
	}
	for _, item := range n.items {
		c.includeFiles(item)
	}
	if n.kind != kindString {
		return
	}
	var out strings.Builder
	for rest := n.text; ; {
		before, from, found := strings.Cut(rest, "{file:")
		name, after, closed := strings.Cut(from, "}")
		if !found || !closed {
			out.WriteString(rest)
			break
		}
		out.WriteString(before + strings.ReplaceAll(c.included(strings.TrimSpace(name), n), "${", "$${"))
		rest = after
	}
	n.text = out.String()
}

// included is the content of a file without white space around it.
func (c *clientServer) included(name string, n *node) string {
	at := c.at
	at.off = n.off
	path := name
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		home, _ := c.lookup("HOME")
		path = filepath.Join(home, rest)
	} else if !filepath.IsAbs(path) {
		path = filepath.Join(c.dir, path)
	}
	if c.readFile == nil {
		c.warn(at, "{file:%s} is left empty: no files can be read here", name)
		return ""
	}
	data, err := c.readFile(path)
	if err != nil {
		c.warn(at, "{file:%s} is left empty: %s", name, cause(err))
		return ""
	}
	c.warn(at, "the content of {file:%s} is copied, and does not follow later changes of the file", name)
	return strings.TrimSpace(string(data))
}
