package admission

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"secateur/internal/access"
	"secateur/internal/access/limit"
	"secateur/internal/mcp/catalog"
	"secateur/internal/ops/events"
)

// Options configure a Control.
type Options struct {
	Rules     *access.Rules // nil: everything is allowed
	PerMinute int           // calls per minute and principal; 0: unlimited
	Limits    []limit.Settings
	Explain   []string // roles that learn which rule refused them
	Audit     Audit    // nil: none
	Metrics   prometheus.Registerer
	Events    *events.Feed // nil: none

	// Held returns PinChanged for an unapproved definition, and PinUnlisted for a tool or prompt
	// that its server does not list. Otherwise it returns "". nil: nothing is held back. Listed
	// receives the lists that a server sends to a caller directly; nil: discarded.
	Held   func(server string, l catalog.List, name string) Pin
	Listed func(ctx context.Context, server string, l catalog.List, items [][]byte)
	// Instructions receives a server's instructions and reports whether they are held back; nil:
	// never.
	Instructions func(ctx context.Context, server, text string) (held bool)

	// LastListed returns the known lists of a server, and whether they are complete. Rules hide a
	// server if the caller may use nothing of it. nil: rules ignore lists.
	LastListed func(server string) (lists catalog.ServerLists, whole bool)

	// Off reports whether a server's tool is switched off for every caller. It is then unknown at
	// every door. nil: none is.
	Off func(server, tool string) bool

	// HasTool reports whether a server lists a tool. Limits by tool count all unlisted tools as
	// one. nil: they do not.
	HasTool func(server, tool string) bool

	Store      limit.Store  // counts for limits shared between replicas; nil: none
	BudgetFile string       // keeps the day's sums across restarts; "": not kept
	Log        *slog.Logger // nil discards

	Replaces *Control // predecessor, whose limits and refusal counts continue; nil: none
}

// Control decides about calls. It is safe for concurrent use. The nil *Control allows everything.
type Control struct {
	rules             *access.Rules
	general, specific *limit.Limits
	explain           []string
	audit             Audit
	events            *events.Feed
	refusals          *prometheus.CounterVec
	budgets           bool
	byModel           bool                           // some limit is about models
	hasTool           func(server, tool string) bool // nil: no limit is by tool
	misses            *limit.Limits
	kept              budgetFile
	held              func(server string, l catalog.List, name string) Pin
	off               func(server, tool string) bool
	lastListed        func(server string) (lists catalog.ServerLists, whole bool)
	listed            func(ctx context.Context, server string, l catalog.List, items [][]byte)
	instructions      func(ctx context.Context, server, text string) (held bool)
	log               *slog.Logger
	strangers         *strangers
}

// New returns a Control.
func New(opt Options) (*Control, error) {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	c := &Control{
		strangers: &strangers{},
		rules:     opt.Rules, explain: opt.Explain, audit: opt.Audit, events: opt.Events, kept: budgetFile{path: opt.BudgetFile}, held: opt.Held, off: opt.Off, listed: opt.Listed, lastListed: opt.LastListed, instructions: opt.Instructions, log: opt.Log,
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

// Rules returns the rules that Ask applies; nil: none.
func (c *Control) Rules() *access.Rules {
	if c == nil {
		return nil
	}
	return c.rules
}

// ReadsModels reports whether rules or limits depend on the body of a conversation. An unreadable
// body is then refused.
func (c *Control) ReadsModels() bool { return c != nil && (c.rules != nil || c.byModel) }

// Refusal says why a call may not proceed: a rule, a limit or a pin.
type Refusal struct {
	Target access.Target
	Method string // requested method; "": not read
	// the rule that denied it, if the caller may know; "": answer as if unknown
	Rule  string
	Limit *limit.Refusal // nil: not a limit
	Pin   Pin            // the problem with its definition; "": none
}

// Hides reports whether the response must look like one for an unknown name.
func (r *Refusal) Hides() bool { return r.Limit == nil && r.Rule == "" && r.Pin == "" }

// Entry is a caller who passed Enter. Its holder calls Leave after the response.
type Entry struct{ grant limit.Grant }

// State returns the state of the limit with the least left.
func (e Entry) State() limit.State { return e.grant.State }

// Leave ends the call.
func (e Entry) Leave() { e.grant.Release() }

// Enter applies the limits that depend only on the caller.
func (c *Control) Enter(ctx context.Context, p *access.Principal, door access.Door) (Entry, *Refusal) {
	if c == nil {
		return Entry{}, nil
	}
	return c.enter(ctx, limit.Call{Principal: p, Target: access.Target{Door: door}})
}

// EnterView is Enter for reading the control plane. It applies only limits that name that door, so
// it does not use up the callers' quota for calls.
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

// Permit is an allowed call. Its holder calls Done after it.
type Permit struct {
	Redact []*access.Redaction

	c      *Control
	ctx    context.Context //nolint:containedctx // for the audit line, written at the end
	p      *access.Principal
	target access.Target
	method string
	rule   string
	grant  limit.Grant
}

// State returns the state of the limit with the least left.
func (p Permit) State() limit.State { return p.grant.State }

// Done ends the call and writes its audit line.
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

// Lister knows the lists of servers.
type Lister interface {
	// Settle waits until the server's current list has been read and compared with the pins. It
	// returns an error if that is impossible.
	Settle(ctx context.Context, server string, l catalog.List) error
	// Lists reports whether a server currently lists a tool or prompt. It returns true for an
	// unreachable server.
	Lists(ctx context.Context, server string, l catalog.List, name string) bool
}

// Ask decides about a call with resolved names. All targets must be allowed; the first one counts
// against the limits.
func (c *Control) Ask(ctx context.Context, p *access.Principal, method string, targets ...access.Target) (Permit, *Refusal) {
	return c.AskListed(ctx, p, method, nil, targets...)
}

// AskListed is Ask for names of a server's things. With rules, a tool or prompt that the server
// does not list is unknown. The server might match the name to another one than the rules do. If
// changed tools are held back, it waits for the server's list. A nil Lister skips both.
func (c *Control) AskListed(ctx context.Context, p *access.Principal, method string, by Lister, targets ...access.Target) (Permit, *Refusal) {
	if c == nil {
		return Permit{}, nil
	}
	permit := Permit{c: c, ctx: ctx, p: p, target: targets[0], method: method}
	for i, t := range targets {
		if c.isOff(t) {
			return Permit{}, c.counted(ctx, p, targets[0], c.unknown(ctx, p, t, method, "off"))
		}
		d := c.rules.Decide(p, t)
		if !d.Allowed || c.rules != nil && t.IsNameless() {
			no := c.denied(ctx, p, t, method, d.Rule)
			// do not reveal which name was denied
			if targets[0].Kind == access.KindNone && no.Hides() {
				no.Target = targets[0]
			}
			return Permit{}, c.counted(ctx, p, targets[0], no)
		}
		if no := c.pinned(ctx, p, t, method, by); no != nil {
			return Permit{}, c.counted(ctx, p, targets[0], no)
		}
		// in an unknown method, a name may be anything
		if targets[0].Kind != access.KindNone && !c.lists(ctx, t, by) {
			return Permit{}, c.counted(ctx, p, targets[0], c.unknown(ctx, p, t, method, "unlisted"))
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

// isOff reports whether the target is a tool that is switched off.
func (c *Control) isOff(t access.Target) bool {
	return c.off != nil && t.Kind == access.KindTool && c.off(t.Server, t.Name)
}

// lists reports whether such a tool or prompt exists, as far as rules depend on it.
func (c *Control) lists(ctx context.Context, t access.Target, by Lister) bool {
	l, ok := listOf(t.Kind)
	return c.rules == nil && c.off == nil || by == nil || !ok || l == catalog.Resources || by.Lists(ctx, t.Server, l, t.Name)
}

// unknown refuses a name that its server does not list, or that is switched off.
func (c *Control) unknown(ctx context.Context, p *access.Principal, t access.Target, method, why string) *Refusal {
	c.count(ctx, t.Door, "acl", why, p)
	c.write(ctx, Line{Principal: p, Target: t, Method: method, Decision: "deny", Rule: why})
	return &Refusal{Target: t, Method: method}
}

// call returns the input for the limits.
func (c *Control) call(p *access.Principal, t access.Target) limit.Call {
	unlisted := c.hasTool != nil && t.Kind == access.KindTool && !c.hasTool(t.Server, t.Name)
	return limit.Call{Principal: p, Target: t, Unlisted: unlisted}
}

// counted charges a hiding refusal to the limits like a call to an unknown name. The remaining
// quota must not reveal the difference.
func (c *Control) counted(ctx context.Context, p *access.Principal, t access.Target, no *Refusal) *Refusal {
	if !no.Hides() {
		return no
	}
	call := c.call(p, t)
	call.Unlisted = call.Unlisted || c.hasTool != nil // the caller does not see it listed
	grant, over := c.specific.Take(ctx, call)
	if over != nil {
		return c.limited(ctx, p, t, no.Method, over)
	}
	grant.Release()
	return no
}

// unknownIDs is the number of unknown original ids that a principal may request per minute.
const unknownIDs = 60

// Missed counts a request for an unknown original. It refuses callers with too many of them,
// because ids must not be guessed.
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

// Usage lists the buckets in use, of all limits.
func (c *Control) Usage() []limit.Usage {
	if c == nil {
		return nil
	}
	return append(c.general.Usage(), c.specific.Usage()...)
}

// Budget returns the name of a limit on the model costs of a caller at a door, or "".
func (c *Control) Budget(p *access.Principal, door access.Door) string {
	if c == nil || !c.budgets {
		return ""
	}
	return c.specific.Budget(p, door)
}

// Spend adds the cost of a model call to the day's sums.
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

// explains reports whether a caller may learn which rule refused them.
func (c *Control) explains(p *access.Principal) bool {
	return p != nil && slices.ContainsFunc(p.Roles, func(role string) bool { return slices.Contains(c.explain, role) })
}

func (c *Control) limited(ctx context.Context, p *access.Principal, t access.Target, method string, over *limit.Refusal) *Refusal {
	c.count(ctx, t.Door, string(over.Reason), over.Limit, p)
	c.write(ctx, Line{Principal: p, Target: t, Method: method, Decision: "limit", Rule: over.Limit})
	return &Refusal{Target: t, Limit: over}
}
