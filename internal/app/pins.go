package app

import (
	"context"
	"slices"
	"time"

	"secateur/internal/access/admission"
	"secateur/internal/access/pins"
	"secateur/internal/config"
	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/upstream"
)

// pinKinds maps each list to its kind of pins.
var pinKinds = map[catalog.List]pins.Kind{
	catalog.Tools: pins.Tool, catalog.Prompts: pins.Prompt, catalog.Resources: pins.Resource, catalog.Templates: pins.Template,
}

// held returns a function that reports why a definition is held back; nil: pins are not strict.
func (gen *generation) held() func(server string, l catalog.List, name string) admission.Pin {
	if gen.cfg.Pins.Mode != pins.ModeStrict {
		return nil
	}
	return func(server string, l catalog.List, name string) admission.Pin {
		switch gen.pins.State(server, pinKinds[l], name) {
		case pins.StateChanged, pins.StateNew:
			return admission.PinChanged
		case pins.StateUnlisted:
			return admission.PinUnlisted
		}
		return ""
	}
}

// see pins what a server lists, or notes that it has changed.
func (gen *generation) see(ctx context.Context, server string, l catalog.List, items [][]byte, whole bool) {
	if gen.isPinned(server) {
		gen.pins.See(ctx, server, pinKinds[l], items, whole)
	}
}

// heldInstructions pins a server's instructions and reports whether they are held back.
func (gen *generation) heldInstructions(ctx context.Context, server, text string) bool {
	return gen.isPinned(server) && gen.pins.SeeInstructions(ctx, server, text) && gen.cfg.Pins.Mode == pins.ModeStrict
}

// isPinned reports whether a server is pinned. Built-in servers are not: they change with the
// program.
func (gen *generation) isPinned(server string) bool {
	isBuiltin := func(s upstream.Settings) bool { return s.ID == server && s.Builtin != "" }
	return gen.cfg.Pins.Mode != pins.ModeOff && server != config.OwnID && !slices.ContainsFunc(allServers(gen.cfg), isBuiltin)
}

// followPins tells clients about changed lists when a definition is held back or approved, until
// ctx is done.
func (a *App) followPins(ctx context.Context) error {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		moved := a.pins.Moved()
		if a.live.Load().cfg.Pins.Mode != pins.ModeStrict {
			continue // changed definitions are listed all the same
		}
		for _, m := range moved {
			for l, kind := range pinKinds {
				if kind == m.Kind {
					a.servers.TellListChanged(m.Server, l)
				}
			}
		}
	}
}
