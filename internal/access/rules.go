package access

import (
	"fmt"
	mathbits "math/bits"
	"slices"
	"strings"
)

// Rules decide who may use what. They are compiled once and never changed; the nil *Rules allows
// everything. The cost of a decision does not depend on the number of rules. Each attribute looks
// up its matching rules as a bit set. The sets are intersected 64 rules at a time, and the first
// remaining bit decides.
type Rules struct {
	rules      []Rule
	names      []string
	redactions []*Redaction // by rule; nil for rules that do not redact
	closed     bool         // deny if no rule matches
	reads      bool         // some rule is about resources
	files      bool         // some rule is about files
	// URI prefixes named by rules although a server may read them as its own files
	elsewhere []string

	tenant, role, subject, door, server *index
	kinds                               [KindRoute + 1]*index
	deciding, allowing, kinded          bits
}

// NewRules compiles valid rules. If closed, calls without a matching rule are denied. Without
// rules, and open, it returns nil.
func NewRules(rules []Rule, closed bool) (*Rules, error) {
	if len(rules) == 0 && !closed {
		return nil, nil // nil allows everything, and costs nothing
	}
	if len(rules) > maxRules {
		return nil, fmt.Errorf("%d rules, %d at most", len(rules), maxRules)
	}
	n := len(rules)
	words := (n + 63) / 64
	s := &Rules{
		rules: slices.Clone(rules), names: make([]string, n), redactions: make([]*Redaction, n), closed: closed,
		tenant: newIndex(n), role: newIndex(n), subject: newIndex(n), door: newIndex(n), server: newIndex(n),
		deciding: make(bits, words), allowing: make(bits, words), kinded: make(bits, words),
	}
	for k := range s.kinds {
		s.kinds[k] = newIndex(n)
	}
	for i, r := range s.rules {
		s.names[i] = RuleName(r, i)
		if err := s.add(i, r); err != nil {
			return nil, fmt.Errorf("%s: %w", s.names[i], err)
		}
	}
	return s, nil
}

// RuleName returns the rule's own name, or acl- and its number from 1.
func RuleName(r Rule, i int) string {
	if r.Name != "" {
		return r.Name
	}
	return fmt.Sprintf("acl-%d", i+1)
}

func (s *Rules) add(i int, r Rule) error {
	s.tenant.ask(i, r.Tenant)
	s.role.ask(i, r.Role)
	s.subject.ask(i, r.Subject)
	s.door.ask(i, r.Door)
	s.server.ask(i, r.Server)
	if r.hasKinds() {
		s.kinded.set(i)
	}
	for k := range s.kinds {
		switch asked := r.of(TargetKind(k)); {
		case !r.hasKinds():
			s.kinds[k].any.set(i)
		case TargetKind(k) == KindResource:
			for _, p := range asked {
				start, ok := NormalURI(strings.TrimSuffix(p, "*"))
				if !ok {
					return fmt.Errorf("resource %q cannot be the beginning of any", p)
				}
				s.kinds[k].addStart(i, start, "*")
				s.reads, s.files = true, s.files || strings.HasPrefix(start, fileScheme)
				if !namesOneFile(start) {
					s.elsewhere = append(s.elsewhere, start)
				}
			}
		case len(asked) > 0:
			s.kinds[k].ask(i, asked)
		}
	}
	switch r.Action {
	case ActionAllow:
		s.allowing.set(i)
		s.deciding.set(i)
	case ActionDeny:
		s.deciding.set(i)
	default:
		redaction, err := newRedaction(s.names[i], r)
		if err != nil {
			return err
		}
		s.redactions[i] = redaction
	}
	return nil
}

// Decision is the outcome of the rules for one call.
type Decision struct {
	Allowed bool
	Rule    string       // the rule that decided; "": the default
	Redact  []*Redaction // the replacements to make, in the order of the rules
}

// unreadable is the rule name for refused URIs that a server might read differently.
const unreadable = "(uri)"

// Decide says whether the caller may use the target.
func (s *Rules) Decide(p *Principal, t Target) Decision {
	if s == nil {
		return Decision{Allowed: true}
	}
	name, ok := s.read(t)
	if !ok {
		return Decision{Rule: unreadable}
	}
	var hit found
	s.matching(&hit, p, t, name)
	for w := range s.deciding {
		if first := hit[w] & s.deciding[w]; first != 0 {
			at := w*64 + mathbits.TrailingZeros64(first)
			return Decision{Allowed: s.allowing.has(at), Rule: s.names[at], Redact: s.redacts(&hit, at)}
		}
	}
	return Decision{Allowed: !s.closed, Redact: s.redacts(&hit, len(s.rules))}
}

// read returns the name that rules use for a target. It refuses URIs that a server might read
// differently. If a rule is about files, it also refuses ambiguous file URIs, unless a rule names
// them as they are.
func (s *Rules) read(t Target) (name string, ok bool) {
	if t.Kind != KindResource || !s.reads {
		return t.Name, true
	}
	name, ok = NormalURI(t.Name)
	if !ok || !s.files || namesOneFile(name) {
		return name, ok
	}
	return name, slices.ContainsFunc(s.elsewhere, func(start string) bool { return strings.HasPrefix(name, start) })
}

// matching finds the rules for a call to a target with this name.
func (s *Rules) matching(hit *found, p *Principal, t Target, name string) {
	s.caller(hit, p, t.Door, t.Server)
	var other found
	other.add(s.kinds[t.Kind].any)
	if t.Kind != KindNone {
		s.kinds[t.Kind].match(&other, name)
		if t.Also != "" {
			s.kinds[t.Kind].match(&other, t.Also)
		}
	}
	for w := range s.deciding {
		hit[w] &= other[w]
	}
}

// nobody is the principal of an unknown caller.
var nobody = &Principal{}

// caller finds the rules for a caller, a door and a server.
func (s *Rules) caller(hit *found, p *Principal, door Door, server string) {
	if p == nil {
		p = nobody
	}
	hit.add(s.tenant.any)
	s.tenant.match(hit, p.Tenant)
	and := func(x *index, values ...string) {
		var other found
		other.add(x.any)
		for _, v := range values {
			x.match(&other, v)
		}
		for w := range x.any {
			hit[w] &= other[w]
		}
	}
	and(s.role, p.Roles...)
	and(s.subject, p.Subject)
	and(s.door, string(door))
	if server != "" {
		and(s.server, server)
	} else {
		and(s.server)
	}
}

func (b bits) has(i int) bool { return b[i/64]>>(i%64)&1 != 0 }

// redacts returns the redactions before the rule that decided.
func (s *Rules) redacts(hit *found, before int) (list []*Redaction) {
	for w := range s.deciding {
		for word := hit[w] &^ s.deciding[w]; word != 0; word &= word - 1 {
			i := w*64 + mathbits.TrailingZeros64(word)
			if i >= before {
				return list
			}
			list = append(list, s.redactions[i])
		}
	}
	return list
}

// Sees reports whether the caller might use anything of a server. A server that the caller does not
// see answers like an unknown one.
func (s *Rules) Sees(p *Principal, door Door, server string) bool {
	if s == nil {
		return true
	}
	var hit found
	s.caller(&hit, p, door, server)
	for w := range s.deciding {
		for word := hit[w] & s.deciding[w]; word != 0; word &= word - 1 {
			i := w*64 + mathbits.TrailingZeros64(word)
			switch {
			case s.allowing.has(i):
				return true
			case !s.kinded.has(i):
				return false // denies everything not allowed before
			}
		}
	}
	return !s.closed
}

// Denies reports whether the caller might be denied anything of a server.
func (s *Rules) Denies(p *Principal, door Door, server string) bool {
	if s == nil {
		return false
	}
	if s.closed || s.reads { // a rule about resources denies some URIs to everyone
		return true
	}
	var hit found
	s.caller(&hit, p, door, server)
	for w := range s.deciding {
		if hit[w]&s.deciding[w]&^s.allowing[w] != 0 {
			return true
		}
	}
	return false
}

// DeniesResources reports whether the caller might be denied a resource of a server.
func (s *Rules) DeniesResources(p *Principal, door Door, server string) bool {
	if s == nil {
		return false
	}
	if s.closed || s.reads {
		return true
	}
	var hit found
	s.caller(&hit, p, door, server)
	for w := range s.deciding {
		if hit[w]&s.deciding[w]&^s.allowing[w]&^s.kinded[w] != 0 {
			return true
		}
	}
	return false
}

// AllowsResources reports whether a rule names resources of a server that the caller may read.
func (s *Rules) AllowsResources(p *Principal, door Door, server string) bool {
	if s == nil {
		return false
	}
	var hit found
	s.caller(&hit, p, door, server)
	for w := range s.deciding {
		for word := hit[w] & s.allowing[w] & s.kinded[w]; word != 0; word &= word - 1 {
			if i := w*64 + mathbits.TrailingZeros64(word); len(s.rules[i].of(KindResource)) > 0 {
				return true
			}
		}
	}
	return false
}

// About returns the redactions that may apply to anything of a server. It is for unsolicited
// messages, whose target is unknown.
func (s *Rules) About(p *Principal, door Door, server string) (list []*Redaction) {
	if s == nil {
		return nil
	}
	var hit found
	s.caller(&hit, p, door, server)
	return s.redacts(&hit, len(s.rules))
}

// AppendMatching appends the position of every rule that matches a call, in order.
func (s *Rules) AppendMatching(dst []int, p *Principal, t Target) []int {
	if s == nil {
		return dst
	}
	var hit found
	s.matching(&hit, p, t, t.Name)
	for w := range s.deciding {
		for word := hit[w]; word != 0; word &= word - 1 {
			dst = append(dst, w*64+mathbits.TrailingZeros64(word))
		}
	}
	return dst
}

// AppendAbout appends the position of every rule that matches a caller at a door, whatever the
// target, in order.
func (s *Rules) AppendAbout(dst []int, p *Principal, door Door) []int {
	if s == nil {
		return dst
	}
	var hit found
	s.caller(&hit, p, door, "")
	for w := range s.deciding {
		for word := hit[w]; word != 0; word &= word - 1 {
			dst = append(dst, w*64+mathbits.TrailingZeros64(word))
		}
	}
	return dst
}

// Names reports whether a rule names this route for this caller and allows it. Routes that pass
// requests unread need such a rule.
func (s *Rules) Names(p *Principal, t Target) bool {
	if s == nil {
		return true
	}
	d := s.Decide(p, t)
	if !d.Allowed || d.Rule == "" {
		return false
	}
	i := slices.Index(s.names, d.Rule)
	return i >= 0 && len(s.rules[i].of(t.Kind)) > 0
}

// RuleNames returns the names of all rules, for metric labels.
func (s *Rules) RuleNames() []string {
	if s == nil {
		return nil
	}
	return slices.Clone(s.names)
}
