package config

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
)

// Naming says how the aggregate calls the tools and prompts of its servers.
type Naming struct {
	Separator string                `toml:"separator"`
	Clients   map[string]ClientName `toml:"clients"` // by a pattern of clientInfo.name, before the built-in profiles
}

// ClientName is how names look to one kind of client.
type ClientName struct {
	Separator string `toml:"separator"`  // "": the general one
	MaxLength int    `toml:"max_length"` // longer names are cut with a stable hash; 0: any length
}

// minNameLength leaves room for the hash of a name that is cut.
const minNameLength = 16

func defaultNaming() Naming { return Naming{Separator: "::"} }

// Validate reports every mistake as "key: text".
func (n Naming) Validate() error {
	errs := []error{validateSeparator("separator", n.Separator)}
	if n.Separator == "" {
		errs = append(errs, errors.New("separator: must not be empty"))
	}
	for _, pattern := range slices.Sorted(maps.Keys(n.Clients)) {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			errs = append(errs, fmt.Errorf("%s: not a pattern", join("clients", pattern)))
		}
	}
	return errors.Join(errs...)
}

// Validate reports every mistake as "key: text".
func (c ClientName) Validate() error {
	var length error
	if c.MaxLength != 0 {
		length = atLeast("max_length", c.MaxLength, minNameLength)
	}
	return errors.Join(validateSeparator("separator", c.Separator), length)
}

func validateSeparator(key, s string) error {
	if strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) || len(s) > 8 {
		return fmt.Errorf("%s: expected a few characters without space, such as :: or -", key)
	}
	return nil
}
