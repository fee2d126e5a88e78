package app

import (
	"context"
	"slices"
	"time"

	"secateur/internal/catalog"
	"secateur/internal/pins"
	"secateur/internal/upstream"
)

// heldTools tells which tools are held back; nil where none ever is.
func (gen *generation) heldTools() func(server, tool string) bool {
	if gen.cfg.Pins.Mode != pins.ModeStrict {
		return nil
	}
	return gen.pins.IsChanged
}

// seeTools pins the tools that a server lists, or notes that they have changed. Those of built-in servers change with the program.
func (gen *generation) seeTools(ctx context.Context, server string, tools [][]byte) {
	isBuiltin := func(s upstream.Settings) bool { return s.ID == server && s.Builtin != "" }
	if gen.cfg.Pins.Mode == pins.ModeOff || slices.ContainsFunc(allServers(gen.cfg), isBuiltin) {
		return
	}
	gen.pins.See(ctx, server, tools)
}

// followPins tells clients that a list is another when a tool is held back, or somebody has approved of it, until ctx is done.
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
			continue // whatever has changed is listed all the same
		}
		for _, server := range moved {
			a.servers.TellListChanged(server, catalog.Tools)
		}
	}
}
