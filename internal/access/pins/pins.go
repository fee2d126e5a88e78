package pins

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Pin is an item as `secateur pins` shows it.
type Pin struct {
	Server string `json:"server"`
	Kind   Kind   `json:"kind"`
	// name for approve: of a tool, or kind and name as in prompt:NAME
	Tool     string    `json:"tool"`
	State    string    `json:"state"`
	Diff     string    `json:"diff"` // "": unchanged
	Findings []Finding `json:"findings"`
	Found    []Found   `json:"found,omitempty"`    // the words behind the findings
	Approved bool      `json:"approved,omitempty"` // a person approved it, and may take that back
}

// The states.
const (
	StatePinned  = "pinned"
	StateChanged = "changed"
	StateNew     = "new" // appeared after the server was pinned

	StateUnlisted = "unlisted" // never listed by the server; no Pin has this state
)

// List reads all pins of a directory, ordered by server and tool.
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
			all = append(all, pinOf(server, Tool, tool, c.Tools[tool]))
			names = append(names, ToolName{server, tool})
		}
		for _, name := range slices.Sorted(maps.Keys(c.Others)) {
			all = append(all, pinOf(server, kindOf(name), name, c.Others[name]))
		}
	}
	alike := map[ToolName]bool{}
	for _, n := range LookAlikes(names) {
		alike[n] = true
	}
	for i := range all {
		if all[i].Kind == Tool && alike[ToolName{all[i].Server, all[i].Tool}] {
			all[i].Findings = append(all[i].Findings, LookAlike)
		}
		if all[i].Findings == nil {
			all[i].Findings = []Finding{}
		}
	}
	return all, nil
}

func pinOf(server string, kind Kind, name string, r record) Pin {
	found := FindAll(name, r.current())
	p := Pin{Server: server, Kind: kind, Tool: name, State: r.state(), Findings: findingsOf(found), Found: found, Approved: r.isApproved()}
	switch p.State {
	case StateChanged:
		p.Diff = Diff(r.Pinned, r.Changed)
	case StateNew:
		p.Diff = "+ name: " + strings.ReplaceAll(name, "\n", " ") + "\n"
		for line := range strings.Lines(r.Changed) {
			p.Diff += "+ " + line
		}
	}
	return p
}

// Approve pins the current definition of one name, or of everything new or changed if name is "".
// It returns the approved names.
func Approve(dir, server, name string) (approved []string, err error) {
	c, err := read(dir, server)
	if err != nil {
		return nil, err
	}
	if len(c.Tools)+len(c.Others) == 0 {
		return nil, unknown(dir, "server", server)
	}
	if name != "" && c.with(name) == nil {
		return nil, fmt.Errorf("nothing is pinned of %q of the server %s; 'secateur pins' lists what is", name, server)
	}
	done := false // a tool and another item may share a name: approve one at a time, tools first
	return approve(dir, server, c, func(n string, _ record) bool {
		wanted := name == "" || name == n && !done
		done = done || wanted
		return wanted
	})
}

// approve pins the new or changed items that are wanted.
func approve(dir, server string, c content, wanted func(name string, r record) bool) (approved []string, err error) {
	for _, all := range []map[string]record{c.Tools, c.Others} {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if r := all[name]; r.isChanged() && wanted(name, r) {
				all[name] = record{Pinned: r.Changed, PinnedAt: now(), Whole: true, ApprovedAt: now(), Former: r.Pinned, FormerAt: r.PinnedAt}
				approved = append(approved, name)
			}
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
	known := "none is yet: a server is pinned when its lists are first read"
	if len(ids) > 0 {
		known = "pinned are " + strings.Join(ids, ", ")
	}
	return fmt.Errorf("nothing is pinned of a %s %q; %s", what, name, known)
}
