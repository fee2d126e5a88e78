package catalog

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Settings configure the names of tools and prompts.
type Settings struct {
	// Separator separates a server's id from the name.
	Separator string `toml:"separator" json:"separator"`
	// Clients maps patterns of clientInfo.name to settings that override the built-in ones.
	Clients map[string]ClientSettings `toml:"clients" json:"clients"`
}

// ClientSettings apply to the clients that match a pattern. Zero fields keep the value of the
// client's built-in profile, if any, else the general one.
type ClientSettings struct {
	Separator string `toml:"separator" json:"separator"`
	MaxLength int    `toml:"max_length" json:"max_length"` // in characters; 0: not set
}

// maxSeparator is the maximum length of a separator.
const maxSeparator = 8

// Default returns the settings of an empty file.
func Default() Settings { return Settings{Separator: ContractSeparator} }

// Validate reports every mistake as "key: text". Each client's settings have a separate Validate.
func (s Settings) Validate() error {
	errs := []error{validateSeparator("separator", s.Separator)}
	if s.Separator == "" {
		errs = append(errs, errors.New("separator: must not be empty"))
	}
	for _, pattern := range slices.Sorted(maps.Keys(s.Clients)) {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			errs = append(errs, fmt.Errorf("clients.%q: not a pattern", pattern))
		}
	}
	return errors.Join(errs...)
}

// Validate reports every mistake as "key: text".
func (c ClientSettings) Validate() error {
	errs := []error{validateSeparator("separator", c.Separator)}
	if c.MaxLength != 0 && c.MaxLength < MinNameLength {
		errs = append(errs, fmt.Errorf("max_length: %d is less than %d", c.MaxLength, MinNameLength))
	}
	return errors.Join(errs...)
}

// ReadQuery reads the settings that a client requests in the query of its address, such as
// separator=__&max_length=64. It ignores everything else.
func ReadQuery(query string) (ClientSettings, error) {
	if query == "" {
		return ClientSettings{}, nil
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return ClientSettings{}, errors.New("not a query")
	}
	c := ClientSettings{Separator: values.Get("separator")}
	if length := values.Get("max_length"); length != "" {
		if c.MaxLength, err = strconv.Atoi(length); err != nil {
			return ClientSettings{}, errors.New("max_length: expected a whole number")
		}
	}
	return c, c.Validate()
}

func validateSeparator(key, s string) error {
	bad := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
	if strings.ContainsFunc(s, bad) || len(s) > maxSeparator {
		return fmt.Errorf("%s: expected a few characters without space, such as :: or -", key)
	}
	return nil
}
