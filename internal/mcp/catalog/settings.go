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

// Settings say how tools and prompts are called.
type Settings struct {
	// Separator stands between a server's id and the name.
	Separator string `toml:"separator" json:"separator"`
	// Clients are by a pattern of clientInfo.name and go before the built-in ones.
	Clients map[string]ClientSettings `toml:"clients" json:"clients"`
}

// ClientSettings are for the clients that a pattern names. What is left at zero is
// as without them: the built-in profile's where the client has one, else the
// general one.
type ClientSettings struct {
	Separator string `toml:"separator" json:"separator"`
	MaxLength int    `toml:"max_length" json:"max_length"` // in characters
}

// maxSeparator is the length of the longest separator that makes sense.
const maxSeparator = 8

// Default returns the settings of a file that says nothing.
func Default() Settings { return Settings{Separator: ContractSeparator} }

// Validate reports every mistake as "key: text"; each client's settings have a Validate of their own.
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

// ReadQuery reads what a client asks for in the query of its address, such as separator=__&max_length=64. Anything else
// there is not ours.
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
