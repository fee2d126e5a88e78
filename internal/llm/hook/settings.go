package hook

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Settings say which results of an agent's own tools are pruned by its hook.
type Settings struct {
	Tools       []string `toml:"tools" json:"tools"`               // patterns of tool names, as path.Match reads them
	Exempt      []string `toml:"exempt" json:"exempt"`             // patterns of those that are left alone
	MinChars    int      `toml:"min_chars" json:"min_chars"`       // shorter results are left whole
	TargetChars int      `toml:"target_chars" json:"target_chars"` // what a result is pruned towards
}

// Default returns the settings that hold where nothing else is said.
func Default() Settings { return Settings{Tools: []string{"*"}, MinChars: 6000, TargetChars: 4000} }

// Validate reports every mistake as "key: text".
func (s Settings) Validate() error {
	var errs []error
	for key, patterns := range map[string][]string{"tools": s.Tools, "exempt": s.Exempt} {
		for i, p := range patterns {
			if _, err := path.Match(p, ""); err != nil {
				errs = append(errs, fmt.Errorf("%s[%d]: %q is no pattern", key, i, p))
			}
		}
	}
	if s.MinChars < 1 {
		errs = append(errs, fmt.Errorf("min_chars: %d is below 1", s.MinChars))
	}
	if s.TargetChars < 1 {
		errs = append(errs, fmt.Errorf("target_chars: %d is below 1", s.TargetChars))
	}
	if s.TargetChars > s.MinChars {
		errs = append(errs, errors.New("target_chars: more than min_chars, so that nothing would be pruned"))
	}
	return errors.Join(errs...)
}

// neverTools change files or plans: what they answer is short, or is needed as it is.
var neverTools = []string{"Edit", "Write", "MultiEdit", "NotebookEdit", "TodoWrite"}

// prunes tells whether the results of a tool are pruned.
func (s Settings) prunes(tool string) bool {
	matches := func(pattern string) bool {
		ok, err := path.Match(pattern, strings.ReplaceAll(tool, "/", "_")) // a name is no path
		return err == nil && ok
	}
	return !slices.Contains(neverTools, tool) && slices.ContainsFunc(s.Tools, matches) && !slices.ContainsFunc(s.Exempt, matches)
}
