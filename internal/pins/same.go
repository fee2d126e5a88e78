package pins

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"time"
)

// Approvals are the digests of the definitions that are pinned of tools of a server, for those who keep pins of their own.
func Approvals(dir, server string, tools []string) (map[string]string, error) {
	c, err := read(dir, server)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, tool := range tools {
		if r, ok := c.Tools[tool]; ok && !r.isChanged() {
			found[tool] = digestOf(r.Pinned)
		}
	}
	return found, nil
}

// ApproveSame pins what tools are now whose definitions have become those that somebody has approved of elsewhere: of tools that are not so it changes nothing.
func ApproveSame(dir, server string, approvals map[string]string) (approved []string, err error) {
	c, err := read(dir, server)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(approvals)) {
		if r, ok := c.Tools[name]; ok && r.isChanged() && digestOf(r.Changed) == approvals[name] {
			c.Tools[name] = record{Pinned: r.Changed, PinnedAt: time.Now().UTC().Truncate(time.Second)}
			approved = append(approved, name)
		}
	}
	if len(approved) == 0 {
		return nil, nil
	}
	return approved, write(dir, server, c)
}

func digestOf(definition string) string {
	sum := sha256.Sum256([]byte(definition))
	return hex.EncodeToString(sum[:])
}
