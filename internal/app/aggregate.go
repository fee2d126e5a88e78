package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"

	"golang.org/x/sync/errgroup"

	"secateur/internal/access"
	"secateur/internal/access/auth"
	"secateur/internal/access/limit"
	"secateur/internal/config"
	"secateur/internal/cut/mask"
	"secateur/internal/mcp/aggregate"
	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/downstream"
	"secateur/internal/mcp/pool"
	"secateur/internal/ops/telemetry"
	"secateur/internal/prune/pruner"
)

// newAggregate builds the door for MCP clients.
func (gen *generation) newAggregate() (*aggregate.Server, error) {
	opt, err := gen.aggregateOptions()
	if err != nil {
		return nil, err
	}
	return aggregate.New(opt)
}

// aggregateOptions returns the door's options for this configuration.
func (gen *generation) aggregateOptions() (aggregate.Options, error) {
	opt := aggregate.Options{
		Pool:      gen.servers,
		Originals: gen.store,
		Authenticate: func(ctx context.Context, token, path string) (*access.Principal, access.Verdict) {
			return gen.auth.AuthenticateMessage(ctx, token, path)
		},
		Hold:      gen.holdAgain,
		Admission: gen.admission,
		Tasks:     gen.tasks,
		Replicas:  gen.replicas,
		PageSize:  gen.cfg.PageSize,
		Version:   gen.opt.Version,
		Metrics:   gen.registry,
		Events:    gen.feed,
		Tools:     gen.tools,

		ToolProfiles: catalog.NewToolProfiles(gen.cfg.Tools),

		Cut: gen.cutMade,
		Log: gen.log,
	}
	if gen.pruner != nil {
		opt.Recovery, opt.RecoverChars = config.PrunerID, pruner.BriefChars
	}
	if set := gen.cfg.ObservationMasking.MCP; set.Enabled {
		var err error
		opt.MaskRepeats = set.Structured == config.StructuredRepeats
		if set.Mode == config.MaskGoal {
			opt.TargetChars = set.TargetChars
		}
		if opt.Masker, err = mask.New(set.Cuts()); err != nil {
			return opt, fmt.Errorf("observation_masking.mcp: %w", err)
		}
	}
	return opt, nil
}

// openingsPerMinute is how many sessions one principal may open per minute, and at once after a
// pause. It suffices for a crowd behind one token but leaves most of the capacity to others.
const openingsPerMinute = 1200

// openMCP opens the HTTP door for MCP clients once: sessions outlive reloads. The door itself
// authenticates, because the token may be in a request's body.
func (gen *generation) openMCP() error {
	if gen.mcp != nil {
		return nil
	}
	door, err := gen.newAggregate()
	if err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(gen.App.cfg.Listen)
	if err != nil {
		return err
	}
	gen.aggregate = door
	gen.mcp = downstream.NewHTTP(downstream.HTTPOptions{
		Server: func(name, query string) (downstream.Server, error) {
			if name != "" {
				return door.Only(name), nil
			}
			names, err := catalog.ReadQuery(query)
			if err != nil {
				return nil, err
			}
			tools, err := catalog.ReadToolsQuery(query)
			return door.AggregateAsking(aggregate.Asked{Names: names, Tools: tools}), err
		},
		Has:        func(p *access.Principal, name string) bool { return name == "" || door.Has(p, name) },
		Known:      door.Known,
		IsDisabled: door.IsDisabled,
		Check:      callerOf,
		Refused: func(r *http.Request, v access.Verdict) {
			gen.live.Load().admission.Unauthorized(r.Context(), access.DoorMCP, string(v.Cause))
		},
		Hold:            gen.holdAgain,
		IsGood:          func(p *access.Principal) bool { return gen.authenticator().IsGood(p) },
		Openings:        limit.PerMinute(openingsPerMinute),
		TokenInHeader:   !access.IsLoopback(host),
		MaxMessageBytes: gen.cfg.MaxMessageBytes,
		IdleTimeout:     gen.cfg.SessionIdle,
		Metrics:         gen.registry,
		Log:             gen.log,
	})
	return nil
}

// holdAgain ends what a caller has open when the token of a message is revoked.
func (gen *generation) holdAgain(ctx context.Context, p *access.Principal) (context.Context, func()) {
	return gen.authenticator().HoldAgain(ctx, p)
}

// hangMCP registers the routes for all servers together and for each server alone.
func (gen *generation) hangMCP(mux *router, g guard) {
	for _, path := range []string{"/mcp", "/mcp/{$}", "/mcp/{server}", "/mcp/{server}/{$}"} {
		mux.Handle(path, g.site(gen.mcp))
	}
}

// errRevoked ends a pipe whose token was revoked.
var errRevoked = errors.New("the token that this connection was opened with is no longer accepted")

// RunStdio serves all servers as one to the client at the other end of a pipe. It ends with the
// pipe or with ctx. A token from the environment covers the whole connection. The connection ends
// when a reload revokes that token.
func (a *App) RunStdio(ctx context.Context, in io.Reader, out io.Writer, token string) error {
	g := a.live.Load()
	door, err := g.newAggregate()
	if err != nil {
		return errors.Join(err, a.close())
	}
	a.aggregate = door
	// nil: each message must carry a token.
	principal, _ := g.auth.AuthenticateMessage(ctx, token, "/mcp")
	// The servers outlive the pipe: calls in flight need them until they are answered.
	serverCtx, stopServers := context.WithCancel(context.WithoutCancel(ctx))
	defer stopServers()
	var back errgroup.Group
	back.Go(func() error { return a.servers.Run(serverCtx) })
	back.Go(func() error { return a.followLogins(serverCtx) })
	back.Go(func() error { return a.followPins(serverCtx) })
	back.Go(func() error { return auth.Follow(serverCtx, a.authenticator) })
	back.Go(func() error { return a.history.Run(serverCtx) })
	back.Go(func() error { return a.serveControl(serverCtx, func() int { return 1 }) })
	back.Go(func() error { return a.reloads(serverCtx) })
	held, release := g.auth.Hold(ctx, principal, nil)
	defer release()
	err = downstream.ServeStdio(telemetry.WithTracing(held, a.tracing), in, out, downstream.StdioOptions{
		Server: door.AggregateAsking(aggregate.Asked{Names: a.opt.Names, Tools: a.opt.ToolMode}), Principal: principal, MaxMessage: a.maxMessage, MaxMessageBytes: a.cfg.MaxMessageBytes, Log: a.log,
		Grace: max(a.cfg.FirstListWait, pool.LongestListWait) + a.cfg.ResponseTimeout, // whoever pipes requests in wants all the answers
	})
	if held.Err() != nil && ctx.Err() == nil {
		err = errors.Join(errRevoked, err)
	}
	door.Close()
	door.Wait()
	stopServers()
	return errors.Join(err, a.waitForServers(ctx, &back), a.close())
}

// maxMessage returns the current limit for the size of a message in bytes.
func (a *App) maxMessage() int { return int(a.live.Load().cfg.MaxMessageBytes) }

// closeMCP ends the streams and sessions of MCP clients after their pending calls are answered.
func (a *App) closeMCP(ctx context.Context) {
	a.aggregate.Close()
	_ = a.mcp.Close(ctx) // closing the listener ends the rest
	a.aggregate.Wait()
}
