package pruner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"secateur/internal/access"
	"secateur/internal/access/admission"
	"secateur/internal/cut/mask"
	"secateur/internal/mcp/toolserver"
	"secateur/internal/mcp/wire"
	"secateur/internal/prune"
	"secateur/internal/prune/rerank"
	"secateur/internal/store/originals"
)

// Name is the pruner's name in a handshake.
const Name = mask.PrunerName

// Options configure a Server.
type Options struct {
	Settings

	Originals originals.Store
	Rerank    Rerank // used if the settings choose a backend other than the heuristic
	Tenant    string // owner of the originals if the caller is unknown
	Version   string
	Admission *admission.Control // for calls over HTTP; nil: no restrictions

	Now             func() time.Time      // monotonic, as time.Now is
	MaxMessageBytes int64                 // larger messages are refused; 0: 32 MiB
	Log             *slog.Logger          // nil discards
	Metrics         prometheus.Registerer // nil: none
	// Called with each part of an original that was returned; nil: none.
	Recovered func(id, returned string)
	// Called for each text that a tool call cut; nil: none.
	Pruned func(context.Context, Pruned)
	// The server it replaces, whose metrics it continues; nil: none.
	Replaces *Server
}

// Server is the pruner. Its methods may be called concurrently.
type Server struct {
	opt       Options
	structure prune.Structure
	backend   rerank.Backend
	tools     *toolserver.Server
	metrics   metrics
}

const defaultMessageBytes = 32 << 20

// New makes a pruner. It starts nothing.
func New(opt Options) (*Server, error) {
	if opt.Originals == nil || opt.Now == nil {
		return nil, errors.New("pruner: originals and a clock are needed")
	}
	if err := opt.Validate(); err != nil {
		return nil, fmt.Errorf("mcp_pruner: %w", err)
	}
	structure, err := prune.ParseStructure(opt.Structure)
	if err != nil {
		return nil, fmt.Errorf("mcp_pruner: %w", err)
	}
	if opt.MaxMessageBytes <= 0 {
		opt.MaxMessageBytes = defaultMessageBytes
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	backend, _ := rerank.ParseBackend(opt.Backend)
	s := &Server{opt: opt, structure: structure, backend: backend}
	if opt.Replaces != nil {
		s.metrics, s.opt.Replaces = opt.Replaces.metrics, nil
	} else {
		s.metrics = newMetrics(opt.Metrics)
	}
	s.tools, err = toolserver.New(toolserver.Options{
		Name:         Name,
		Title:        "secateur pruner",
		Version:      opt.Version,
		Instructions: instructions,
		Tools:        s.toolTable(),
		Brief:        s.briefTable(),
		Methods:      map[string]toolserver.Method{"health": s.healthMethod},
		Log:          opt.Log,
	})
	if err != nil {
		return nil, fmt.Errorf("pruner: %w", err)
	}
	return s, nil
}

// Serve answers one message; nil for a notification.
func (s *Server) Serve(ctx context.Context, msg *wire.Message) []byte { return s.tools.Serve(ctx, msg) }

// HasTool reports whether a tool of this name exists, listed or not. A nil Server has none.
func (s *Server) HasTool(name string) bool { return s != nil && s.tools.Has(name) }

// tenant returns the owner of a call's originals.
func (s *Server) tenant(ctx context.Context) string {
	if p := access.FromContext(ctx); p != nil {
		return p.Owner()
	}
	return s.opt.Tenant
}
