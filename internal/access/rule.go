package access

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Rule is one [[acl]] entry. A missing key matches everything.
type Rule struct {
	Name     string   `toml:"name"` // "": acl- and its number
	Tenant   Globs    `toml:"tenant"`
	Role     Globs    `toml:"role"` // any of the caller's roles
	Subject  Globs    `toml:"subject"`
	Door     Globs    `toml:"door"`
	Server   Globs    `toml:"server"` // never matches a target without a server
	Tool     Globs    `toml:"tool"`   // this or one of the next four limits the rule to these kinds
	Prompt   Globs    `toml:"prompt"`
	Resource Globs    `toml:"resource"` // prefixes of normalized URIs
	Model    Globs    `toml:"model"`
	Route    Globs    `toml:"route"`
	Action   string   `toml:"action"`
	Fields   []string `toml:"fields"`   // redact: values of these members
	Patterns []string `toml:"patterns"` // redact: matches inside any string
	In       []string `toml:"in"`       // redact: arguments, results; none: both
}

// The actions of a rule.
const (
	ActionAllow  = "allow"
	ActionDeny   = "deny"
	ActionRedact = "redact"
)

// Where a redaction applies.
const (
	InArguments = "arguments"
	InResults   = "results"
)

// Doors are the words for a rule's door.
var Doors = []string{string(DoorGateway), string(DoorMCP), string(DoorChat), string(DoorPruner), string(DoorAdmin)}

// Validate reports every mistake of the rule itself.
func (r Rule) Validate() error {
	var errs []error
	complain := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	switch r.Action {
	case ActionAllow, ActionDeny, ActionRedact:
	case "":
		complain("action: missing; say allow, deny or redact")
	default:
		complain("action: %q is none of allow, deny, redact", r.Action)
	}
	for key, globs := range map[string]Globs{
		"tenant": r.Tenant, "role": r.Role, "subject": r.Subject, "server": r.Server, "tool": r.Tool, "prompt": r.Prompt,
		"model": r.Model, "route": r.Route, "door": r.Door, "resource": r.Resource,
	} {
		if slices.Contains(globs, "") {
			complain("%s: the empty pattern matches nothing; leave the key out to match anything", key)
		}
	}
	for _, d := range r.Door {
		if !slices.ContainsFunc(Doors, func(door string) bool { return d == "" || Glob(d, door) }) {
			complain("door: %q is none of %s", d, strings.Join(Doors, ", "))
		}
	}
	for _, p := range r.Resource {
		if _, ok := NormalURI(strings.TrimSuffix(p, "*")); !ok {
			complain("resource: %q climbs or hides a dot or slash, so no resource begins with it", p)
		}
	}
	r.validateRedaction(complain)
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

func (r Rule) validateRedaction(complain func(string, ...any)) {
	for i, p := range r.Patterns {
		re, err := regexp.Compile(p)
		switch {
		case err != nil:
			complain("patterns[%d]: not RE2: %s", i, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		case re.MatchString(""):
			complain("patterns[%d]: matches the empty text, and so everywhere", i)
		}
	}
	if slices.Contains(r.Fields, "") {
		complain("fields: an empty name")
	}
	for _, in := range r.In {
		if in != InArguments && in != InResults {
			complain("in: %q is neither arguments nor results", in)
		}
	}
	switch n := len(r.Fields) + len(r.Patterns); {
	case r.Action == ActionRedact && n == 0:
		complain("action: redact needs fields or patterns")
	case r.Action != ActionRedact && (n > 0 || len(r.In) > 0):
		complain("action: fields, patterns and in belong to redact")
	}
}

// hasKinds reports whether the rule is limited to some kinds of target.
func (r Rule) hasKinds() bool {
	return len(r.Tool)+len(r.Prompt)+len(r.Resource)+len(r.Model)+len(r.Route) > 0
}

// of returns the rule's patterns for a kind of target.
func (r Rule) of(k TargetKind) Globs {
	switch k {
	case KindTool:
		return r.Tool
	case KindPrompt:
		return r.Prompt
	case KindResource:
		return r.Resource
	case KindModel:
		return r.Model
	case KindRoute:
		return r.Route
	default:
		return nil
	}
}
