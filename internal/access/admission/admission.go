package admission

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"secateur/internal/access"
	"secateur/internal/access/limit"
	"secateur/internal/mcp/catalog"
	"secateur/internal/ops/events"
	"secateur/internal/rawjson"
)

// Options make a Control.
type Options struct {
	Rules     *access.Rules // nil: everything is allowed
	PerMinute int           // calls a minute and principal; 0: any number
	Limits    []limit.Settings
	Explain   []string // roles that are told which rule refused them
	Audit     Audit    // nil: none
	Metrics   prometheus.Registerer
	Events    *events.Feed // nil: nobody listens

	// Held returns PinChanged for a definition that was not approved, PinUnlisted for a tool or prompt that its server does not list, and
	// "" for the rest; nil: nothing is held back. Listed takes in what a server lists to a caller directly; nil: nobody wants to know.
	Held   func(server string, l catalog.List, name string) Pin
	Listed func(ctx context.Context, server string, l catalog.List, items [][]byte)
	// Instructions takes in a server's instructions and reports whether they are held back; nil: they never are.
	Instructions func(ctx context.Context, server, text string) (held bool)

	// LastListed returns what a server lists, as far as it is known, and whether that is all of it. Rules hide a server of which a caller may
	// use nothing; nil: they do not look at lists.
	LastListed func(server string) (lists catalog.ServerLists, whole bool)

	// HasTool reports whether a server lists a tool. Limits by tool count all others as one; nil: they do not.
	HasTool func(server, tool string) bool

	Store      limit.Store  // counts for limits that replicas share; nil: there are none
	BudgetFile string       // where the sums of a day are kept over a restart; "": nowhere
	Log        *slog.Logger // nil discards

	Replaces *Control // whose place it takes: limits go on where they were, and refusals are counted on; nil: nobody's
}

// Control decides. Its methods may be used by many goroutines. The nil *Control lets everyone do everything.
type Control struct {
	rules             *access.Rules
	general, specific *limit.Limits
	explain           []string
	audit             Audit
	events            *events.Feed
	refusals          *prometheus.CounterVec
	budgets           bool
	byModel           bool                           // some limit is about models
	hasTool           func(server, tool string) bool // nil: no limit tells tools apart
	misses            *limit.Limits
	kept              budgetFile
	held              func(server string, l catalog.List, name string) Pin
	lastListed        func(server string) (lists catalog.ServerLists, whole bool)
	listed            func(ctx context.Context, server string, l catalog.List, items [][]byte)
	instructions      func(ctx context.Context, server, text string) (held bool)
	log               *slog.Logger
	strangers         *strangers
}

// New makes a Control.
func New(opt Options) (*Control, error) {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	c := &Control{
		strangers: &strangers{},
		rules:     opt.Rules, explain: opt.Explain, audit: opt.Audit, events: opt.Events, kept: budgetFile{path: opt.BudgetFile}, held: opt.Held, listed: opt.Listed, lastListed: opt.LastListed, instructions: opt.Instructions, log: opt.Log,
	}
	var general, specific []limit.Settings
	for i, s := range opt.Limits {
		s.Name = limit.SettingsName(s, i)
		c.budgets = c.budgets || s.TokensPerDay > 0 || s.USDPerDay > 0
		c.byModel = c.byModel || len(s.Model) > 0 || slices.Contains(s.By, limit.ByModel)
		if slices.Contains(s.By, limit.ByTool) {
			c.hasTool = opt.HasTool
		}
		if s.IsGeneral() {
			general = append(general, s)
		} else {
			specific = append(specific, s)
		}
	}
	var err error
	before := opt.Replaces
	if before == nil {
		before = &Control{strangers: c.strangers}
	}
	c.strangers = before.strangers
	if c.general, err = limit.New(limit.Options{PerMinute: opt.PerMinute, Settings: general, Store: opt.Store, Replaces: before.general}); err != nil {
		return nil, err
	}
	if c.specific, err = limit.New(limit.Options{Settings: specific, Store: opt.Store, Replaces: before.specific}); err != nil {
		return nil, err
	}
	if c.misses, err = limit.New(limit.Options{Settings: []limit.Settings{
		{Name: "unknown_prune_ids", By: []string{limit.ByPrincipal}, Rate: limit.Rate{Number: unknownIDs, Per: time.Minute}},
	}, Replaces: before.misses}); err != nil {
		return nil, err
	}
	if c.refusals = before.refusals; c.refusals != nil {
		return c, nil
	}
	if c.budgets {
		spent, err := c.kept.load()
		if err != nil {
			return nil, err // access fails closed
		}
		c.Restore(spent)
	}
	c.refusals = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "secateur_refusals_total", Help: "Calls that access control refused.",
	}, []string{"door", "reason", "rule"})
	if opt.Metrics != nil {
		opt.Metrics.MustRegister(c.refusals)
	}
	return c, nil
}

// Rules are those that Ask asks; nil: none.
func (c *Control) Rules() *access.Rules {
	if c == nil {
		return nil
	}
	return c.rules
}

// ReadsModels reports whether rules or limits depend on what a conversation's body says, so that one that cannot be read is refused.
func (c *Control) ReadsModels() bool { return c != nil && (c.rules != nil || c.byModel) }

// Refusal is why a call does not go ahead: a rule, or a limit.
type Refusal struct {
	Target access.Target
	Method string         // what was asked; "": nothing of it was read
	Rule   string         // the rule that denied it, for a caller who may know; "": answer as if it were not there
	Limit  *limit.Refusal // nil: it was a rule
	Pin    Pin            // what is wrong with its definition; "": nothing
}

// Pin is why strict pins hold a tool back: the reason that its caller is told.
type Pin string

// The reasons.
const (
	PinChanged   Pin = "pin_changed"   // its definition is new or has changed, and was not approved
	PinUnlisted  Pin = "pin_unlisted"  // its server does not list it: its caller is told that there is none
	PinUnchecked Pin = "pin_unchecked" // its server says that its tools are others, or is there anew, and does not list them
)

// Hides reports whether what is refused is to answer as if it were not there.
func (r *Refusal) Hides() bool { return r.Limit == nil && r.Rule == "" && r.Pin == "" }

// Entry is a caller who may ask. Its holder calls Leave when the answer is out.
type Entry struct{ grant limit.Grant }

// State is that of the limit with least left.
func (e Entry) State() limit.State { return e.grant.State }

// Leave ends the call.
func (e Entry) Leave() { e.grant.Release() }

// Enter asks the limits that are about callers alone.
func (c *Control) Enter(ctx context.Context, p *access.Principal, door access.Door) (Entry, *Refusal) {
	if c == nil {
		return Entry{}, nil
	}
	return c.enter(ctx, limit.Call{Principal: p, Target: access.Target{Door: door}})
}

// EnterView is Enter for a look at the control plane, which takes nothing from what callers have for their calls: only limits that name
// its door are asked.
func (c *Control) EnterView(ctx context.Context, p *access.Principal) (Entry, *Refusal) {
	if c == nil {
		return Entry{}, nil
	}
	return c.enter(ctx, limit.Call{Principal: p, Target: access.Target{Door: access.DoorAdmin}, View: true})
}

func (c *Control) enter(ctx context.Context, call limit.Call) (Entry, *Refusal) {
	grant, over := c.general.Take(ctx, call)
	if over != nil {
		return Entry{}, c.limited(ctx, call.Principal, call.Target, "", over)
	}
	return Entry{grant}, nil
}

// Permit is a call that may go ahead. Its holder calls Done when that is over.
type Permit struct {
	Redact []*access.Redaction

	c      *Control
	ctx    context.Context //nolint:containedctx // for the audit's line, which is written at the end
	p      *access.Principal
	target access.Target
	method string
	rule   string
	grant  limit.Grant
}

// State is that of the limit with least left.
func (p Permit) State() limit.State { return p.grant.State }

// Done ends the call and writes its line of the audit.
func (p Permit) Done(bytesIn, bytesOut int) {
	if p.c == nil {
		return
	}
	p.grant.Release()
	decision := "allow"
	if len(p.Redact) > 0 {
		decision = "redact"
	}
	p.c.write(p.ctx, Line{
		Principal: p.p, Target: p.target, Method: p.method, Decision: decision, Rule: p.rule, BytesIn: bytesIn, BytesOut: bytesOut,
	})
}

// Lister knows what servers list.
type Lister interface {
	// Settle waits until a list that a server has now has been read, and so compared with what is pinned. The error is why that cannot be had.
	Settle(ctx context.Context, server string, l catalog.List) error
	// Lists reports whether a server lists a tool or prompt now. It is true for a server that is not there.
	Lists(ctx context.Context, server string, l catalog.List, name string) bool
}

// Ask decides about a call whose names are resolved. All of the targets have to be allowed; the first is the one that is limited.
func (c *Control) Ask(ctx context.Context, p *access.Principal, method string, targets ...access.Target) (Permit, *Refusal) {
	return c.AskListed(ctx, p, method, nil, targets...)
}

// AskListed is Ask for names of a server's things. With rules, a tool or prompt that the server does not list is unknown: a server may take a
// name for another one than the rules do. Where changed tools are held back, the server's list is waited for. A nil Lister skips both.
func (c *Control) AskListed(ctx context.Context, p *access.Principal, method string, by Lister, targets ...access.Target) (Permit, *Refusal) {
	if c == nil {
		return Permit{}, nil
	}
	permit := Permit{c: c, ctx: ctx, p: p, target: targets[0], method: method}
	for i, t := range targets {
		d := c.rules.Decide(p, t)
		if !d.Allowed || c.rules != nil && t.IsNameless() {
			no := c.denied(ctx, p, t, method, d.Rule)
			if targets[0].Kind == access.KindNone && no.Hides() { // which of the names it was is not to be told
				no.Target = targets[0]
			}
			return Permit{}, c.counted(ctx, p, targets[0], no)
		}
		if no := c.pinned(ctx, p, t, method, by); no != nil {
			return Permit{}, c.counted(ctx, p, targets[0], no)
		}
		if targets[0].Kind != access.KindNone && !c.lists(ctx, t, by) { // what an unknown method calls a name may be anything
			return Permit{}, c.counted(ctx, p, targets[0], c.unknown(ctx, p, t, method))
		}
		permit.Redact = append(permit.Redact, d.Redact...)
		if i == 0 {
			permit.rule = d.Rule
		}
	}
	var over *limit.Refusal
	if permit.grant, over = c.specific.Take(ctx, c.call(p, targets[0])); over != nil {
		return Permit{}, c.limited(ctx, p, targets[0], method, over)
	}
	return permit, nil
}

// lists reports whether there is such a tool or prompt, as far as rules ask for that.
func (c *Control) lists(ctx context.Context, t access.Target, by Lister) bool {
	l, ok := listOf(t.Kind)
	return c.rules == nil || by == nil || !ok || l == catalog.Resources || by.Lists(ctx, t.Server, l, t.Name)
}

// unknown refuses a name that its server does not list.
func (c *Control) unknown(ctx context.Context, p *access.Principal, t access.Target, method string) *Refusal {
	c.count(ctx, t.Door, "acl", "unlisted", p)
	c.write(ctx, Line{Principal: p, Target: t, Method: method, Decision: "deny", Rule: "unlisted"})
	return &Refusal{Target: t, Method: method}
}

// call is what limits are asked about.
func (c *Control) call(p *access.Principal, t access.Target) limit.Call {
	unlisted := c.hasTool != nil && t.Kind == access.KindTool && !c.hasTool(t.Server, t.Name)
	return limit.Call{Principal: p, Target: t, Unlisted: unlisted}
}

// counted has a refusal count against the limits as a call does of a name that a server turns out not to have: what is left of a limit is
// not to tell one from the other.
func (c *Control) counted(ctx context.Context, p *access.Principal, t access.Target, no *Refusal) *Refusal {
	if !no.Hides() {
		return no
	}
	call := c.call(p, t)
	call.Unlisted = call.Unlisted || c.hasTool != nil // as the caller sees it
	grant, over := c.specific.Take(ctx, call)
	if over != nil {
		return c.limited(ctx, p, t, no.Method, over)
	}
	grant.Release()
	return no
}

// Hidden is the refusal of a thing that was found by its being listed and is denied, which counts no more than a name that nobody has; nil where
// it is to be asked for.
func (c *Control) Hidden(ctx context.Context, p *access.Principal, method string, targets ...access.Target) *Refusal {
	if c == nil || c.rules == nil || c.explains(p) {
		return nil
	}
	for _, t := range targets {
		if d := c.rules.Decide(p, t); !d.Allowed {
			return c.denied(ctx, p, t, method, d.Rule)
		}
	}
	return nil
}

// AskSeen is Ask for what needs no rule but that the caller sees the server: the limits count.
func (c *Control) AskSeen(ctx context.Context, p *access.Principal, method string, t access.Target) (Permit, *Refusal) {
	if c == nil {
		return Permit{}, nil
	}
	grant, over := c.specific.Take(ctx, limit.Call{Principal: p, Target: t})
	if over != nil {
		return Permit{}, c.limited(ctx, p, t, method, over)
	}
	permit := Permit{c: c, ctx: ctx, p: p, target: t, method: method, grant: grant}
	if strings.HasPrefix(method, "tasks/") { // the results of calls that were made before
		permit.Redact = c.rules.About(p, t.Door, t.Server)
	}
	return permit, nil
}

// Sees reports whether there may be anything of a server for the caller: by the rules, and by what the server is known to list.
func (c *Control) Sees(p *access.Principal, door access.Door, server string) bool {
	if c == nil || c.rules == nil {
		return true
	}
	if !c.rules.Sees(p, door, server) {
		return false
	}
	if c.lastListed == nil || !c.rules.Denies(p, door, server) || c.rules.AllowsResources(p, door, server) { // which need not be listed
		return true
	}
	lists, whole := c.lastListed(server)
	return !whole || c.seesSome(p, door, lists)
}

// seesSome reports whether the caller may have something of what a server lists. A server that lists nothing may have anything.
func (c *Control) seesSome(p *access.Principal, door access.Door, lists catalog.ServerLists) bool {
	empty := true
	for l, original := range lists.All() {
		empty = false
		if c.rules.Decide(p, ListTarget(door, lists.Server, l, original)).Allowed {
			return true
		}
	}
	return empty
}

// MayKnow reports whether a caller may know that there is a server: because there may be anything of it for them, or they are told which rule
// it is hidden by.
func (c *Control) MayKnow(p *access.Principal, door access.Door, server string) bool {
	return c.Sees(p, door, server) || c.explains(p)
}

// Unseen is the refusal of a server that the caller does not see.
func (c *Control) Unseen(ctx context.Context, p *access.Principal, t access.Target, method string) *Refusal {
	return c.denied(ctx, p, t, method, c.rules.Decide(p, t).Rule)
}

// Lists reports whether the caller may have a thing that is about to be listed.
func (c *Control) Lists(p *access.Principal, t access.Target) bool {
	if c == nil || !c.rules.Decide(p, t).Allowed {
		return c == nil
	}
	l, ok := listOf(t.Kind)
	return c.held == nil || !ok || c.holds(t.Server, l, t.Name) == ""
}

// ListsItem is Lists for an item of a server's list, by the server's own name for it.
func (c *Control) ListsItem(p *access.Principal, door access.Door, server string, l catalog.List, original string) bool {
	return c == nil || c.rules.Decide(p, ListTarget(door, server, l, original)).Allowed && (c.held == nil || c.held(server, l, original) == "")
}

// listOf is the list that things of a kind are in.
func listOf(k access.TargetKind) (l catalog.List, ok bool) {
	switch k {
	case access.KindTool:
		return catalog.Tools, true
	case access.KindPrompt:
		return catalog.Prompts, true
	case access.KindResource:
		return catalog.Resources, true
	default:
		return 0, false
	}
}

// Filters reports whether some of what servers list may not be for everyone.
func (c *Control) Filters() bool { return c != nil && (c.rules != nil || c.held != nil) }

// NoteList takes in what a server lists to a caller directly.
func (c *Control) NoteList(ctx context.Context, server string, l catalog.List, result []byte) {
	if c == nil || c.listed == nil {
		return
	}
	if page, err := catalog.ReadPage(l, result); err == nil {
		c.listed(ctx, server, l, page.Items)
	}
}

// HoldsInstructions takes in a server's instructions and reports whether they are held back.
func (c *Control) HoldsInstructions(ctx context.Context, server, text string) bool {
	return c != nil && c.instructions != nil && c.instructions(ctx, server, text)
}

// Greeting returns the result of a server's handshake without instructions that are held back.
func (c *Control) Greeting(ctx context.Context, server string, result []byte) []byte {
	if c.HoldsInstructions(ctx, server, rawjson.GetText(result, "instructions")) {
		return rawjson.Remove(result, "instructions")
	}
	return result
}

// unknownIDs is how many ids of originals that are not there a principal may ask for in a minute.
const unknownIDs = 60

// Missed counts that a caller asked for an original that is not there. Who does so too often is refused: ids are not to be guessed.
func (c *Control) Missed(ctx context.Context, p *access.Principal) *Refusal {
	if c == nil || p == nil {
		return nil
	}
	t := access.Target{Door: access.DoorPruner, Server: "pruner"}
	if _, over := c.misses.Take(ctx, limit.Call{Principal: p, Target: t}); over != nil {
		return c.limited(ctx, p, t, "", over)
	}
	return nil
}

// Usage lists the buckets of all limits that are in use.
func (c *Control) Usage() []limit.Usage {
	if c == nil {
		return nil
	}
	return append(c.general.Usage(), c.specific.Usage()...)
}

// Budget returns the name of a limit that counts what the models of a caller cost at a door, or "".
func (c *Control) Budget(p *access.Principal, door access.Door) string {
	if c == nil || !c.budgets {
		return ""
	}
	return c.specific.Budget(p, door)
}

// Spend adds to the day's sums of a model call.
func (c *Control) Spend(p *access.Principal, t access.Target, tokens int64, usd float64) {
	if c == nil {
		return
	}
	err := errors.Join(
		c.general.Spend(limit.Call{Principal: p, Target: access.Target{Door: t.Door}}, tokens, usd),
		c.specific.Spend(limit.Call{Principal: p, Target: t}, tokens, usd),
		c.keepBudgets(savePause),
	)
	if err != nil {
		c.log.ErrorContext(context.Background(), "budgets", "err", err)
	}
}

func (c *Control) denied(ctx context.Context, p *access.Principal, t access.Target, method, rule string) *Refusal {
	if rule == "" {
		rule = "default"
	}
	c.count(ctx, t.Door, "acl", rule, p)
	c.write(ctx, Line{Principal: p, Target: t, Method: method, Decision: "deny", Rule: rule})
	r := &Refusal{Target: t, Method: method}
	if c.explains(p) {
		r.Rule = rule
	}
	return r
}

// explains reports whether a caller is told which rule refused them.
func (c *Control) explains(p *access.Principal) bool {
	return p != nil && slices.ContainsFunc(p.Roles, func(role string) bool { return slices.Contains(c.explain, role) })
}

// pinned refuses a thing whose definition nobody has approved of, or that cannot be compared with the one that was pinned.
func (c *Control) pinned(ctx context.Context, p *access.Principal, t access.Target, method string, by Lister) *Refusal {
	l, ok := listOf(t.Kind)
	if c.held == nil || !ok {
		return nil
	}
	why := c.holds(t.Server, l, t.Name)
	if why != PinChanged && by != nil { // it is refused until somebody approves: there is nothing to wait for
		err := by.Settle(ctx, t.Server, l)
		why = c.holds(t.Server, l, t.Name)
		if err != nil && l != catalog.Resources { // a resource need not be listed
			why = PinUnchecked
		}
	}
	switch why {
	case "":
		return nil
	case PinUnlisted:
		why = "" // answered as an unknown name
	}
	c.refusals.WithLabelValues(string(t.Door), "acl", "pins").Inc()
	c.write(ctx, Line{Principal: p, Target: t, Method: method, Decision: "deny", Rule: "pins"})
	return &Refusal{Target: t, Method: method, Pin: why}
}

// holds is c.held for a name that a caller uses. A completion names a template as if it were a resource.
func (c *Control) holds(server string, l catalog.List, name string) Pin {
	why := c.held(server, l, name)
	if why == "" && l == catalog.Resources {
		return c.held(server, catalog.Templates, name)
	}
	return why
}

func (c *Control) limited(ctx context.Context, p *access.Principal, t access.Target, method string, over *limit.Refusal) *Refusal {
	c.count(ctx, t.Door, string(over.Reason), over.Limit, p)
	c.write(ctx, Line{Principal: p, Target: t, Method: method, Decision: "limit", Rule: over.Limit})
	return &Refusal{Target: t, Limit: over}
}
