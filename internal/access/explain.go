package access

import (
	"slices"
	"strings"
)

// Explanation says which rule decided, and how the others matched.
type Explanation struct {
	Principal string    `json:"principal"`
	Target    string    `json:"target"`
	Decision  string    `json:"decision"` // allow | deny
	Rule      *string   `json:"rule"`     // nil: the default
	Redact    []string  `json:"redact"`   // rules whose redactions apply
	Rules     []Because `json:"rules"`
}

// Because says how one rule contributed to a decision.
type Because struct {
	Rule    string `json:"rule"`
	Matched bool   `json:"matched"`
	Because string `json:"because"`
}

// Explain decides as Decide does, rule by rule, and says why. It shares no index with Decide; tests
// check that both agree.
func (s *Rules) Explain(p *Principal, t Target) Explanation {
	out := Explanation{Target: t.String(), Decision: ActionAllow, Redact: []string{}, Rules: []Because{}}
	if p != nil {
		out.Principal = p.Subject
	}
	if s == nil {
		return out
	}
	if _, ok := s.read(t); !ok {
		out.Decision = ActionDeny
		out.Rules = append(out.Rules, Because{unreadable, true, "the URI climbs, hides a dot or slash, or names a file by a host or a relative path, so nobody may have it"})
		out.Rule = &out.Rules[0].Rule
		return out
	}
	if s.closed {
		out.Decision = ActionDeny
	}
	decided := false
	for i, r := range s.rules {
		why := r.mismatch(p, t)
		b := Because{Rule: s.names[i], Matched: why == "", Because: why}
		switch {
		case !b.Matched:
		case decided:
			b.Because = "matches, but " + *out.Rule + " comes first"
		case r.Action == ActionRedact:
			b.Because = "matches, and redacts"
			out.Redact = append(out.Redact, s.names[i])
		default:
			b.Because = "matches, and decides: " + r.Action
			decided, out.Decision, out.Rule = true, r.Action, &s.names[i]
		}
		out.Rules = append(out.Rules, b)
	}
	return out
}

// mismatch returns why a rule does not apply to a call, or "" if it applies.
func (r Rule) mismatch(p *Principal, t Target) string {
	if p == nil {
		p = nobody
	}
	differs := func(key string, globs Globs, values ...string) string {
		if len(globs) == 0 || slices.ContainsFunc(values, globs.Match) {
			return ""
		}
		have := strings.Join(values, ", ")
		if have == "" {
			have = "none"
		}
		return key + " is " + have + ", not " + strings.Join(globs, " or ")
	}
	server := []string{}
	if t.Server != "" {
		server = append(server, t.Server)
	}
	for _, why := range []string{
		differs("tenant", r.Tenant, p.Tenant), differs("role", r.Role, p.Roles...), differs("subject", r.Subject, p.Subject),
		differs("door", r.Door, string(t.Door)), differs("server", r.Server, server...),
	} {
		if why != "" {
			return why
		}
	}
	if !r.hasKinds() {
		return ""
	}
	asked := r.of(t.Kind)
	if len(asked) == 0 {
		return "it is about other kinds of things"
	}
	if t.Kind == KindResource {
		uri, _ := NormalURI(t.Name)
		for _, p := range asked {
			if start, ok := NormalURI(strings.TrimSuffix(p, "*")); ok && strings.HasPrefix(uri, start) {
				return ""
			}
		}
		return "resource " + uri + " does not begin with " + strings.Join(asked, " or ")
	}
	names := []string{t.Name}
	if t.Also != "" {
		names = append(names, t.Also)
	}
	return differs(t.Kind.String(), asked, names...)
}
