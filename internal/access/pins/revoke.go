package pins

import (
	"fmt"
	"maps"
	"slices"
)

// Revoke takes back the approval of one name, or of everything approved if name is "". The former
// definition is pinned again, so that the current one is held back. It returns the names.
func Revoke(dir, server, name string) (revoked []string, err error) {
	c, err := read(dir, server)
	if err != nil {
		return nil, err
	}
	if len(c.Tools)+len(c.Others) == 0 {
		return nil, unknown(dir, "server", server)
	}
	if all := c.with(name); name != "" && (all == nil || !all[name].isApproved()) {
		return nil, fmt.Errorf("no approval of %q of the server %s can be taken back; 'secateur pins' lists what is pinned", name, server)
	}
	return revoke(dir, server, c, func(n string, _ record) bool { return name == "" || name == n })
}

// RevokeSame takes back the approvals of definitions whose digests another replica has sent.
func RevokeSame(dir, server string, digests map[string]string) (revoked []string, err error) {
	c, err := read(dir, server)
	if err != nil {
		return nil, err
	}
	return revoke(dir, server, c, func(name string, r record) bool { return digestOf(r.Pinned) == digests[name] })
}

// revoke takes back the approvals that are wanted.
func revoke(dir, server string, c content, wanted func(name string, r record) bool) (revoked []string, err error) {
	for _, all := range []map[string]record{c.Tools, c.Others} {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if r := all[name]; r.isApproved() && wanted(name, r) {
				all[name] = record{Pinned: r.Former, PinnedAt: r.FormerAt, Whole: true, Changed: r.Pinned, ChangedAt: now()}
				revoked = append(revoked, name)
			}
		}
	}
	if len(revoked) == 0 {
		return nil, nil
	}
	return revoked, write(dir, server, c)
}
