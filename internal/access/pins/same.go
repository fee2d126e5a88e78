package pins

import (
	"crypto/sha256"
	"encoding/hex"
)

// Approvals returns digests of the pinned definitions of a server's tools, for others that keep
// their own pins.
func Approvals(dir, server string, tools []string) (map[string]string, error) {
	return digests(dir, server, tools, func(r record) (string, bool) { return r.Pinned, !r.isChanged() })
}

// Revocations is Approvals for tools whose approval was just taken back.
func Revocations(dir, server string, tools []string) (map[string]string, error) {
	return digests(dir, server, tools, func(r record) (string, bool) { return r.Changed, r.isChanged() })
}

func digests(dir, server string, tools []string, of func(record) (definition string, ok bool)) (map[string]string, error) {
	c, err := read(dir, server)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, tool := range tools {
		if definition, ok := of(c.with(tool)[tool]); ok && c.with(tool) != nil {
			found[tool] = digestOf(definition)
		}
	}
	return found, nil
}

// ApproveSame pins the current definition of tools if it matches an approval from elsewhere. Other
// tools stay unchanged.
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
