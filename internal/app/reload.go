package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"secateur/internal/config"
	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/upstream"
	"secateur/internal/ops/admin"
	"secateur/internal/ops/replica"
)

// InvalidConfig is the error for a configuration with mistakes. Nothing was changed.
type InvalidConfig struct{ Mistakes []config.Problem }

func (e *InvalidConfig) Error() string {
	lines := make([]string, len(e.Mistakes))
	for i, m := range e.Mistakes {
		lines[i] = m.String()
	}
	return strings.Join(lines, "\n")
}

// errNoReload is returned by a reload without Options.Load.
var errNoReload = errors.New("this program was started without a way to load its configuration again")

// Effect says whether a reload changes anything.
type Effect bool

// The effects.
const (
	Apply  Effect = true
	DryRun Effect = false
)

// Reload reads the configuration again and applies the changes, unless it is a dry run. New
// requests are served by the new configuration, those in flight by the old one. Any error, such as
// *InvalidConfig, leaves everything unchanged.
func (a *App) Reload(ctx context.Context, e Effect) (done admin.Reloaded, err error) {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	if e == Apply {
		defer func() { a.noteReload(done, err) }()
	}
	if a.opt.Load == nil {
		return admin.Reloaded{}, errNoReload
	}
	next, mistakes := a.opt.Load()
	if len(mistakes) > 0 {
		return admin.Reloaded{}, &InvalidConfig{mistakes}
	}
	out, changed := difference(a.opt.Config.Settings, a.loaded.Load().Settings, next.Settings)
	if e == DryRun || !out.Changed {
		return out, nil
	}
	if a.opt.Level != nil {
		a.opt.Level.Set(next.Level())
	}
	if a.opt.Format != nil {
		a.opt.Format.Set(next.StructuredLogging)
	}
	for _, p := range next.Warnings {
		a.log.WarnContext(ctx, "configuration", "problem", p.String())
	}
	if err := a.apply(&loaded{Config: next, at: time.Now(), restartNeeded: out.RestartNeeded}, changed); err != nil {
		return admin.Reloaded{}, err
	}
	a.replicas.Tell(replica.News{Kind: replica.Reloaded})
	a.log.InfoContext(ctx, "configuration reloaded", "added", out.Added, "removed", out.Removed, "restarted", out.Restarted, "unchanged", len(out.Unchanged),
		"keys", out.Keys, "restart_needed", out.RestartNeeded)
	return out, nil
}

// apply makes a configuration the live one. changed lists the servers that get a new process.
func (a *App) apply(next *loaded, changed []string) error {
	before := a.live.Load()
	gen, err := a.newGeneration(next.Settings, before)
	if err != nil {
		return err
	}
	opt, err := gen.aggregateOptions()
	if err != nil {
		return err
	}
	set := gen.poolServers()
	set.Changed = changed
	var failed error
	err = a.servers.Reload(set, func() {
		if a.aggregate != nil {
			failed = a.aggregate.Reload(opt)
		}
		a.live.Store(gen)
		a.loaded.Store(next)
	})
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	for _, s := range gen.cfg.Servers {
		if old := before.bounds(s.ID).Settings; !slices.Equal(old.Tools, s.Tools) || !slices.Equal(old.ExcludeTools, s.ExcludeTools) {
			a.servers.TellListChanged(s.ID, catalog.Tools)
		}
	}
	a.servers.Each(func(up *upstream.Upstream) { up.SetBounds(gen.bounds(up.ID())) })
	a.budget.SetLimit(inFlightLimit(gen.cfg))
	if a.mcp != nil {
		a.mcp.SetMaxMessageBytes(gen.cfg.MaxMessageBytes)
		a.mcp.SetIdleTimeout(gen.cfg.SessionIdle)
	}
	if web := a.web.Load(); web != nil && gen.certificates != before.certificates {
		// This closes idle connections: clients reconnect, with or without TLS.
		web.SetKeepAlivesEnabled(false)
		web.SetKeepAlivesEnabled(true)
	}
	gen.auth.EndRevoked()
	return nil
}

// bounds returns the bounds of a server.
func (gen *generation) bounds(id string) upstream.Bounds {
	b := upstream.Bounds{
		ResponseTimeout: gen.cfg.ResponseTimeout, LongString: gen.cfg.ObservationMasking.Gateway.MaxChars, MaxMessageBytes: int(gen.cfg.MaxMessageBytes),
		HealthInterval: gen.cfg.HealthcheckInterval, HealthTimeout: gen.cfg.HealthcheckTimeout,
	}
	if i := slices.IndexFunc(gen.cfg.Servers, func(s upstream.Settings) bool { return s.ID == id }); i >= 0 {
		b.Settings = gen.cfg.Servers[i]
	}
	return b
}

// loaded is the configuration that was last applied.
type loaded struct {
	*config.Config
	at            time.Time
	restartNeeded []string // keys changed since the start that wait for a restart
}

// difference returns what a reload changes: from live to next, or from the start for keys that wait
// for a restart.
func difference(started, live, next config.Settings) (out admin.Reloaded, changed []string) {
	servers := config.CompareServers(allServers(live), allServers(next))
	out = admin.Reloaded{
		Added: list(servers.Added), Removed: list(servers.Removed), Restarted: list(servers.Changed), Unchanged: list(servers.Unchanged),
		Keys:          append(list(slices.DeleteFunc(config.CompareKeys(live, next), waitsForRestart)), servers.Keys...),
		RestartNeeded: list(slices.DeleteFunc(config.CompareKeys(started, next), func(key string) bool { return !waitsForRestart(key) })),
	}
	if live.Pruner.Enabled && next.Pruner.Enabled && !reflect.DeepEqual(live.Pruner, next.Pruner) {
		out.Unchanged = slices.DeleteFunc(out.Unchanged, func(id string) bool { return id == config.PrunerID })
		out.Restarted = append(out.Restarted, config.PrunerID)
	}
	out.Changed = len(out.Added)+len(out.Removed)+len(out.Restarted)+len(servers.Keys)+len(config.CompareKeys(live, next)) > 0 || !slices.Equal(order(live), order(next))
	return out, out.Restarted
}

// order returns the servers in the order of their tools in lists.
func order(s config.Settings) (ids []string) {
	for _, server := range s.Servers {
		ids = append(ids, server.ID)
	}
	return ids
}

// list returns a non-nil copy, for JSON.
func list(ids []string) []string { return append([]string{}, ids...) }

// liveKeys are the keys that a reload applies, with all keys below them. Any other key waits for a
// restart.
var liveKeys = []string{
	"acl", "admin", "allowed_hosts", "allowed_origins", "auth", "auth_token", "context_pruning", "default_provider", "drain_delay", "first_list_wait",
	"healthcheck_interval", "healthcheck_timeout", "hooks", "limits", "log_level", "max_body_bytes", "max_in_flight_bytes", "max_message_bytes", "mcp_pruner", "models", "naming", "tools",
	"import", "notifications", "observation_masking", "page_size", "pins", "proof", "providers", "rate_limit_per_minute", "response_timeout", "session_idle_timeout", "structured_logging", "tls",
}

func waitsForRestart(key string) bool {
	return !slices.ContainsFunc(liveKeys, func(live string) bool { return key == live || strings.HasPrefix(key, live+".") })
}

// reloads reloads on request or when the file changes, until ctx is done.
func (a *App) reloads(ctx context.Context) error {
	if a.opt.Load == nil {
		return nil
	}
	changes := make(chan struct{}, 1)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		a.watchConfig(ctx, changes)
	}()
	defer func() { <-watched }()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-a.opt.Hangups:
			a.tryReload(ctx, "SIGHUP")
		case <-changes:
			if a.loaded.Load().Admin.Watch {
				a.tryReload(ctx, "the file has changed")
			}
		}
	}
}

// watchConfig signals changes of the file.
func (a *App) watchConfig(ctx context.Context, changes chan<- struct{}) {
	path := a.opt.Config.Path
	if path == "" {
		return
	}
	err := watchFile(ctx, path, quietTime, nil, func() {
		select {
		case changes <- struct{}{}:
		default:
		}
	})
	if err != nil {
		a.log.WarnContext(ctx, "the configuration file is not watched; reload with SIGHUP or 'secateur reload'", "err", err)
	}
}

// tryReload is Reload for callers that cannot be answered: it logs the errors.
func (a *App) tryReload(ctx context.Context, why string) {
	_, err := a.Reload(ctx, Apply)
	if invalid, ok := errors.AsType[*InvalidConfig](err); ok {
		for _, m := range invalid.Mistakes {
			a.log.ErrorContext(ctx, "configuration not reloaded, what was loaded before stays", "because", why, "problem", m.String())
		}
		return
	}
	if err != nil {
		a.log.ErrorContext(ctx, "configuration not reloaded, what was loaded before stays", "because", why, "err", err)
	}
}

// controlReload is Reload for the control plane.
func (a *App) controlReload(ctx context.Context, dryRun bool) (admin.Reloaded, error) {
	out, err := a.Reload(ctx, Effect(!dryRun))
	if invalid, ok := errors.AsType[*InvalidConfig](err); ok {
		return out, invalid.problem()
	}
	return out, err
}

// problem returns the refusal of an invalid configuration.
func (e *InvalidConfig) problem() *admin.Problem {
	p := admin.NewProblem(http.StatusUnprocessableEntity, admin.CodeConfigInvalid,
		fmt.Sprintf("the configuration has mistakes (%d), and nothing was changed", len(e.Mistakes)), "errors tells file, line and key")
	for _, m := range e.Mistakes {
		p.Errors = append(p.Errors, admin.ConfigError{File: m.File, Line: m.Line, Key: m.Key, Message: m.Text})
	}
	return p
}

// configState describes the live configuration.
func (a *App) configState() admin.ConfigState {
	last := a.loaded.Load()
	return admin.ConfigState{Path: last.Path, SHA256: last.SHA256, LoadedAt: last.at, RestartNeeded: last.restartNeeded}
}
