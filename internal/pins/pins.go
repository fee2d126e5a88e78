package pins

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Pin is a tool as `secateur pins` shows it.
type Pin struct {
	Server   string    `json:"server"`
	Tool     string    `json:"tool"`
	State    string    `json:"state"`
	Diff     string    `json:"diff"` // "": it is as it was
	Findings []Finding `json:"findings"`
}

// The states.
const (
	StatePinned  = "pinned"
	StateChanged = "changed"
)

// List reads all pins of a directory, by server and tool.
func List(dir string) ([]Pin, error) {
	ids, err := servers(dir)
	if err != nil {
		return nil, err
	}
	all := []Pin{}
	var names []ToolName
	for _, server := range ids {
		c, err := read(dir, server)
		if err != nil {
			return nil, err
		}
		for _, tool := range slices.Sorted(maps.Keys(c.Tools)) {
			r := c.Tools[tool]
			p := Pin{Server: server, Tool: tool, State: StatePinned, Findings: Findings(tool, r.current())}
			if r.isChanged() {
				p.State, p.Diff = StateChanged, Diff(r.Pinned, r.Changed)
			}
			all = append(all, p)
			names = append(names, ToolName{server, tool})
		}
	}
	alike := map[ToolName]bool{}
	for _, n := range LookAlikes(names) {
		alike[n] = true
	}
	for i := range all {
		if alike[ToolName{all[i].Server, all[i].Tool}] {
			all[i].Findings = append(all[i].Findings, LookAlike)
		}
		if all[i].Findings == nil {
			all[i].Findings = []Finding{}
		}
	}
	return all, nil
}

// Approve pins what a server's tools are now: of one tool, or of all that have changed. It returns those.
func Approve(dir, server, tool string) (approved []string, err error) {
	c, err := read(dir, server)
	if err != nil {
		return nil, err
	}
	if len(c.Tools) == 0 {
		return nil, unknown(dir, "server", server)
	}
	if _, ok := c.Tools[tool]; tool != "" && !ok {
		return nil, fmt.Errorf("nothing is pinned of a tool %q of the server %s; 'secateur pins' lists what is", tool, server)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Tools)) {
		if r := c.Tools[name]; r.isChanged() && (tool == "" || tool == name) {
			c.Tools[name] = record{Pinned: r.Changed, PinnedAt: time.Now().UTC().Truncate(time.Second)}
			approved = append(approved, name)
		}
	}
	if len(approved) == 0 {
		return nil, nil
	}
	return approved, write(dir, server, c)
}

func unknown(dir, what, name string) error {
	ids, err := servers(dir)
	if err != nil {
		return err
	}
	known := "none is yet: a server is pinned when its tools are first listed"
	if len(ids) > 0 {
		known = "pinned are " + strings.Join(ids, ", ")
	}
	return fmt.Errorf("nothing is pinned of a %s %q; %s", what, name, known)
}
