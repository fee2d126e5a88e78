package pins

import (
	"crypto/sha256"
	"encoding/hex"
)

// Approvals are the digests of the definitions that are pinned of tools of a server, for those who keep pins of their own.
func Approvals(dir, server string, tools []string) (map[string]string, error) {
	c, err := read(dir, server)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, tool := range tools {
		if all := c.with(tool); all != nil && !all[tool].isChanged() {
			found[tool] = digestOf(all[tool].Pinned)
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
	return approve(dir, server, c, func(name string, r record) bool { return digestOf(r.Changed) == approvals[name] })
}

func digestOf(definition string) string {
	sum := sha256.Sum256([]byte(definition))
	return hex.EncodeToString(sum[:])
}
