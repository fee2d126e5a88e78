package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"secateur/internal/access"
	"secateur/internal/mcp/rpchttp"
	"secateur/internal/ops/admin"
)

// SocketDir is the folder below the state directory for the control sockets of programs on a pipe.
const SocketDir = "sockets"

// private is the guard of a socket that only its owner can open: every caller is that user.
type private struct{ guard }

func (g private) control(anyRole bool, d door) http.Handler {
	if anyRole {
		d = g.limited(d)
	} else {
		d = g.withRole(d, access.RoleAdmin)
	}
	return g.shut(plainRefusal, d)
}

// shut admits the user.
func (g private) shut(refuse refusal, d door) http.Handler {
	return g.safely(func(w http.ResponseWriter, r *http.Request) { g.hold(refuse, w, r, access.Anonymous(), d) })
}

// socketHandler serves the control plane to the owner of a program on a pipe, with the live
// generation.
type socketHandler struct {
	a        *App
	sessions func() int

	mu  sync.Mutex
	gen *generation // guarded by mu; mux has its routes
	mux *router     // guarded by mu
}

func (h *socketHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	mux, err := h.routes()
	if err != nil {
		h.a.log.ErrorContext(r.Context(), "control plane not built", "err", err)
		admin.NewProblem(http.StatusInternalServerError, admin.CodeInternal, "the control plane could not be built", "see the log").Write(w)
		return
	}
	mux.ServeHTTP(w, r)
}

func (h *socketHandler) routes() (*router, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	gen := h.a.live.Load()
	if h.gen == gen {
		return h.mux, nil
	}
	mux, err := gen.socketRoutes(h.sessions)
	if err == nil {
		h.gen, h.mux = gen, mux
	}
	return mux, err
}

// socketRoutes registers the control plane, and the pruner for 'secateur recover'.
func (gen *generation) socketRoutes(sessions func() int) (*router, error) {
	api, err := gen.newControl(sessions)
	if err != nil {
		return nil, err
	}
	g := private{gen.guard("localhost")}
	mux := newRouter()
	hangControl(mux, g, api)
	if gen.pruner != nil {
		mux.Handle("/rpc", g.shut(rpchttp.Refuse, gen.pruner.ServeRPC))
	}
	mux.Handle("/", g.shut(plainRefusal, func(w http.ResponseWriter, r *http.Request, _ *access.Principal) {
		admin.NewProblem(http.StatusNotFound, admin.CodeInvalidRequest, "there is no "+r.URL.Path+" on this socket", "GET "+admin.Base+"/openapi.json lists what there is").Write(w)
	}))
	return mux, nil
}

// serveControl serves the control plane on a socket of this process.
func (a *App) serveControl(ctx context.Context, sessions func() int) error {
	dir := ""
	if a.opt.StateDir != "" {
		dir = filepath.Join(a.opt.StateDir, SocketDir)
	}
	return a.serveSocket(ctx, dir, &socketHandler{a: a, sessions: sessions})
}

// serveSocket serves a socket of this process in a directory until ctx is done; then the socket is gone. A program without one
// does its work all the same: what is wrong is logged.
func (a *App) serveSocket(ctx context.Context, dir string, h http.Handler) error {
	ln, err := openSocket(ctx, dir)
	if err != nil {
		a.log.WarnContext(ctx, "a socket for commands of this user cannot be opened", "err", err)
		return nil
	}
	web := newServer(h, a.log)
	requests, cutOff := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cutOff(nil)
	web.BaseContext = func(net.Listener) context.Context { return requests }
	var work errgroup.Group
	work.Go(func() error {
		if err := web.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	work.Go(func() error {
		<-ctx.Done()
		cutOff(http.ErrServerClosed)
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
		defer cancel()
		if web.Shutdown(last) != nil {
			_ = web.Close()
		}
		return nil
	})
	return work.Wait()
}

// openSocket makes the socket, which only this user can open, and takes away those of programs that ended without doing so.
func openSocket(ctx context.Context, dir string) (net.Listener, error) {
	if dir == "" {
		return nil, errors.New("there is no state directory")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	removeStaleSockets(ctx, dir)
	path := filepath.Join(dir, strconv.Itoa(os.Getpid())+".sock")
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf("%s: a socket's path has at most %d bytes", path, maxSocketPath)
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	return ln, nil
}

// maxSocketPath is the shortest sun_path of all systems, without the zero byte.
const maxSocketPath = 103

// socketPatience bounds the check whether a process listens on a socket. A stale socket answers at
// once; the rest is for a busy machine.
const socketPatience = 5 * time.Second

// removeStaleSockets removes sockets without a listening process.
func removeStaleSockets(ctx context.Context, dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	dialer := net.Dialer{Timeout: socketPatience}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !strings.HasSuffix(path, ".sock") {
			continue
		}
		conn, err := dialer.DialContext(ctx, "unix", path)
		if err == nil {
			_ = conn.Close()
		} else if isRefused(err) {
			_ = os.Remove(path)
		}
	}
}
