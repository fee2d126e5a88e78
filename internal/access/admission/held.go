package admission

import (
	"context"

	"secateur/internal/access"
	"secateur/internal/mcp/catalog"
	"secateur/internal/rawjson"
)

// Pin is the reason why strict pins hold a tool back. Callers see it.
type Pin string

// The reasons.
const (
	PinChanged  Pin = "pin_changed"  // the definition is new or changed, and not approved
	PinUnlisted Pin = "pin_unlisted" // its server does not list it; answered as an unknown name
	// the server's tools changed or it restarted, and it does not list them
	PinUnchecked Pin = "pin_unchecked"
)

// NoteList receives a list that a server sent to a caller directly.
func (c *Control) NoteList(ctx context.Context, server string, l catalog.List, result []byte) {
	if c == nil || c.listed == nil {
		return
	}
	if page, err := catalog.ReadPage(l, result); err == nil {
		c.listed(ctx, server, l, page.Items)
	}
}

// HoldsInstructions receives a server's instructions and reports whether they are held back.
func (c *Control) HoldsInstructions(ctx context.Context, server, text string) bool {
	return c != nil && c.instructions != nil && c.instructions(ctx, server, text)
}

// Greeting removes held-back instructions from the result of a server's handshake.
func (c *Control) Greeting(ctx context.Context, server string, result []byte) []byte {
	if c.HoldsInstructions(ctx, server, rawjson.GetText(result, "instructions")) {
		return rawjson.Remove(result, "instructions")
	}
	return result
}

// pinned refuses a thing whose definition was not approved, or cannot be compared with the pin.
func (c *Control) pinned(ctx context.Context, p *access.Principal, t access.Target, method string, by Lister) *Refusal {
	l, ok := listOf(t.Kind)
	if c.held == nil || !ok {
		return nil
	}
	why := c.holds(t.Server, l, t.Name)
	if why != PinChanged && by != nil { // a changed pin waits for approval, not for the list
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

// holds is c.held for a name in a call. A completion names a template like a resource.
func (c *Control) holds(server string, l catalog.List, name string) Pin {
	why := c.held(server, l, name)
	if why == "" && l == catalog.Resources {
		return c.held(server, catalog.Templates, name)
	}
	return why
}
