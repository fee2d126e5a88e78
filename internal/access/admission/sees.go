package admission

import (
	"context"
	"strings"

	"secateur/internal/access"
	"secateur/internal/access/limit"
	"secateur/internal/mcp/catalog"
)

// Hidden returns the refusal for a denied target that was found in a list. It looks like an unknown
// name and does not count against limits. It returns nil if Ask must decide.
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

// AskSeen is Ask for calls that only need the caller to see the server. Limits apply.
func (c *Control) AskSeen(ctx context.Context, p *access.Principal, method string, t access.Target) (Permit, *Refusal) {
	if c == nil {
		return Permit{}, nil
	}
	grant, over := c.specific.Take(ctx, limit.Call{Principal: p, Target: t})
	if over != nil {
		return Permit{}, c.limited(ctx, p, t, method, over)
	}
	permit := Permit{c: c, ctx: ctx, p: p, target: t, method: method, grant: grant}
	if strings.HasPrefix(method, "tasks/") { // results of earlier calls
		permit.Redact = c.rules.About(p, t.Door, t.Server)
	}
	return permit, nil
}

// Sees reports whether the caller might use anything of a server, by the rules and by the known
// lists.
func (c *Control) Sees(p *access.Principal, door access.Door, server string) bool {
	if c == nil || c.rules == nil {
		return true
	}
	if !c.rules.Sees(p, door, server) {
		return false
	}
	// resources need not be listed
	if c.lastListed == nil || !c.rules.Denies(p, door, server) || c.rules.AllowsResources(p, door, server) {
		return true
	}
	lists, whole := c.lastListed(server)
	return !whole || c.seesSome(p, door, lists)
}

// seesSome reports whether the caller may use something that a server lists. A server with empty
// lists may offer anything.
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

// MayKnow reports whether a caller may know that a server exists. Either it might use something of
// it, or it may learn which rule hides it.
func (c *Control) MayKnow(p *access.Principal, door access.Door, server string) bool {
	return c.Sees(p, door, server) || c.explains(p)
}

// Unseen returns the refusal for a server that the caller does not see.
func (c *Control) Unseen(ctx context.Context, p *access.Principal, t access.Target, method string) *Refusal {
	return c.denied(ctx, p, t, method, c.rules.Decide(p, t).Rule)
}

// Lists reports whether the caller may see a thing in a list.
func (c *Control) Lists(p *access.Principal, t access.Target) bool {
	if c == nil || c.isOff(t) || !c.rules.Decide(p, t).Allowed {
		return c == nil
	}
	l, ok := listOf(t.Kind)
	return c.held == nil || !ok || c.holds(t.Server, l, t.Name) == ""
}

// ListsItem is Lists for an item of a server's list, by the server's own name for it.
func (c *Control) ListsItem(p *access.Principal, door access.Door, server string, l catalog.List, original string) bool {
	if c == nil {
		return true
	}
	t := ListTarget(door, server, l, original)
	return !c.isOff(t) && c.rules.Decide(p, t).Allowed && (c.held == nil || c.held(server, l, original) == "")
}

// listOf returns the list that contains things of a kind.
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

// Filters reports whether lists may differ between callers or hold things back.
func (c *Control) Filters() bool {
	return c != nil && (c.rules != nil || c.held != nil || c.off != nil)
}
