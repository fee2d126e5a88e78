package app

import (
	"context"
	"slices"

	"secateur/internal/access/pins"
	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/upstream"
	"secateur/internal/ops/replica"
)

// News from other replicas matters because any replica may serve a client: it may list at one and
// listen at another. An approval of a tool counts for all.

// tellListChanged tells other replicas that a child process has changed a list. A server with a URL
// notifies each replica itself.
func (a *App) tellListChanged(server string, l catalog.List) {
	if a.isChild(server) {
		a.replicas.Tell(replica.News{Kind: replica.ListChanged, Server: server, List: l.Method()})
	}
}

func (a *App) isChild(server string) bool {
	return slices.ContainsFunc(a.live.Load().cfg.Servers, func(s upstream.Settings) bool { return s.ID == server && len(s.Command) > 0 })
}

// heard acts on news from another replica.
func (a *App) heard(ctx context.Context, n replica.News) {
	switch n.Kind {
	case replica.ListChanged:
		if l, ok := catalog.ListOf(n.List); ok {
			a.servers.TellListChanged(n.Server, l)
		}
	case replica.Reloaded:
		if next, err := a.Reload(ctx, DryRun); err == nil && next.Changed {
			a.tryReload(ctx, "another replica has read it again")
		}
	case replica.PinsApproved:
		a.followPin(ctx, n, pins.ApproveSame)
	case replica.PinsRevoked:
		a.followPin(ctx, n, pins.RevokeSame)
	}
}

// followPin does here what was done at another replica to the pins of tools that have the same
// definition.
func (a *App) followPin(ctx context.Context, n replica.News, change func(dir, server string, digests map[string]string) ([]string, error)) {
	dir := a.stateFile("pins")
	if dir == "" {
		return
	}
	tools, err := change(dir, n.Server, n.Tools)
	switch {
	case err != nil:
		a.log.WarnContext(ctx, "the pins of another replica cannot be followed", "kind", n.Kind, "server", n.Server, "err", err)
	case len(tools) > 0:
		a.log.InfoContext(ctx, "pins changed as at another replica", "kind", n.Kind, "server", n.Server, "tools", tools, "replica", n.From)
	}
}

// missedNews assumes that everything has changed, after news from other replicas may have been
// lost.
func (a *App) missedNews() {
	for _, s := range a.live.Load().cfg.Servers {
		if len(s.Command) == 0 {
			continue
		}
		for _, l := range []catalog.List{catalog.Tools, catalog.Prompts, catalog.Resources} {
			a.servers.TellListChanged(s.ID, l)
		}
	}
}
