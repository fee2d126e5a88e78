package app

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"

	"secateur/internal/access"
	"secateur/internal/llm/hook"
	"secateur/internal/ops/admin"
	"secateur/internal/ops/events"
	"secateur/internal/ops/telemetry"
	"secateur/internal/store/history"
	"secateur/internal/store/redisdb"
)

// openHook opens the door for events of an agent's program. Without a state directory, or where originals end with this process, nothing is
// cut: what a marker stands for must be there as long as its session.
func (gen *generation) openHook() error {
	gen.hook = &hook.Server{Admission: gen.admission, MaxBytes: gen.cfg.MaxMessageBytes, Log: gen.log}
	lasts := strings.HasPrefix(gen.cfg.Store.URL, "file:") || redisdb.IsURL(gen.cfg.Store.URL)
	if gen.opt.StateDir == "" || !lasts {
		return nil
	}
	var err error
	gen.hook.Hook, err = hook.New(hook.Options{
		Settings: gen.cfg.Hooks, Originals: gen.store, StateDir: gen.opt.StateDir, RecoverCommand: gen.recoverCommand(), Observe: gen.hookCut,
	})
	return err
}

// hookCut counts a result that a hook has cut.
func (gen *generation) hookCut(ctx context.Context, c hook.Cut) {
	gen.savings.Cut(events.Cut{
		ID: c.ID, Feature: history.FeatureHook, Tool: hook.ToolLabel(c.Tool), OriginalChars: c.Chars, KeptChars: c.Kept, TokensSaved: c.Tokens, RequestID: telemetry.RequestID(ctx),
		How: &events.Removal{Reason: "a big result, pruned by the agent's hook", Goal: events.ClipGoal(c.Goal), Sent: events.SentAs(c.Sent)},
	})
}

// hangHook hangs the route for events.
func hangHook(mux *router, g guard, s *hook.Server) {
	mux.Handle(hook.Path, g.shut(plainRefusal, g.watch(access.DoorChat, s.Serve)))
}

// serveHooks serves events on a socket that only this user can open, so that a command of this user finds the program without a token, and
// never talks to another that happens to have the port.
func (a *App) serveHooks(ctx context.Context) error {
	if a.opt.StateDir == "" {
		return nil
	}
	return a.serveSocket(ctx, hook.SocketDir(a.opt.StateDir), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		gen := a.live.Load()
		g := private{gen.guard("localhost")}
		g.shut(plainRefusal, g.watch(access.DoorChat, func(w http.ResponseWriter, r *http.Request, p *access.Principal) {
			if r.URL.Path != hook.Path {
				admin.NewProblem(http.StatusNotFound, admin.CodeInvalidRequest, "there is no "+filepath.Base(r.URL.Path)+" on this socket", "POST "+hook.Path).Write(w)
				return
			}
			gen.hook.Serve(w, r, p)
		})).ServeHTTP(w, r)
	}))
}
