package admission

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"secateur/internal/access"
	"secateur/internal/ops/events"
	"secateur/internal/ops/telemetry"
)

// Line is one decision: who, what and why. It never holds contents.
type Line struct {
	Principal         *access.Principal
	Target            access.Target
	Method            string
	Decision          string // allow, deny, redact, limit, unauthorized
	Rule              string
	BytesIn, BytesOut int
	Count             int // number of decisions this line represents; 0: one
}

// Audit receives lines. It must be safe for concurrent use.
type Audit interface {
	Write(ctx context.Context, l Line)
}

func (c *Control) write(ctx context.Context, l Line) {
	if c.audit != nil {
		c.audit.Write(ctx, l)
	}
}

// Unauthorized records that an unknown caller was refused. It writes at most one line per minute
// for each door and cause, with a count. Otherwise unknown callers could fill the disk.
func (c *Control) Unauthorized(ctx context.Context, door access.Door, cause string) {
	if c == nil {
		return
	}
	c.count(ctx, door, "unauthorized", "", nil)
	if n, isDue := c.strangers.of(string(door) + " audit " + cause).Count(); isDue {
		c.write(ctx, Line{Target: access.Target{Door: door}, Decision: "unauthorized", Rule: cause, Count: n})
	}
}

// Forbidden counts a request from a forbidden origin, or without the required role.
func (c *Control) Forbidden(ctx context.Context, door access.Door) {
	if c != nil {
		c.count(ctx, door, "forbidden", "", nil)
	}
}

// Overloaded counts a request refused for lack of memory.
func (c *Control) Overloaded(ctx context.Context, door access.Door) {
	if c != nil {
		c.count(ctx, door, "memory", "", nil)
	}
}

// strangers throttles reports about unknown callers. Its keys come from closed sets.
type strangers struct {
	mu  sync.Mutex // guards the field below
	all map[string]*telemetry.Seldom
}

func (s *strangers) of(key string) *telemetry.Seldom {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string]*telemetry.Seldom{}
	}
	if s.all[key] == nil {
		s.all[key] = &telemetry.Seldom{}
	}
	return s.all[key]
}

// count counts a refusal and publishes an event. Unknown callers cause at most one event per minute
// for each door and reason, with a count. So they do not push other events out; the metric counts
// them all.
func (c *Control) count(ctx context.Context, door access.Door, reason, rule string, p *access.Principal) {
	c.refusals.WithLabelValues(string(door), reason, rule).Inc()
	if c.events == nil {
		return
	}
	r := events.Refusal{RequestID: telemetry.RequestID(ctx), Door: string(door), Reason: reason, Rule: rule}
	if p != nil {
		r.Subject = p.Subject
		c.events.Publish(r)
		return
	}
	n, isDue := c.strangers.of(string(door) + " event " + reason).Count()
	if !isDue {
		c.events.Keep(r)
		return
	}
	if n > 1 {
		r.Count = n
	}
	c.events.Publish(r)
}

// LogAudit writes the audit to the log.
type LogAudit struct{ Log *slog.Logger }

// Write writes a line. The log adds the request id.
func (a LogAudit) Write(ctx context.Context, l Line) {
	r := recordOf(ctx, l)
	attrs := []any{
		"issuer", r.Issuer, "subject", r.Subject, "tenant", r.Tenant, "door", r.Door, "method", r.Method,
		"server", r.Server, "target", r.Target, "decision", r.Decision, "rule", r.Rule, "bytes_in", r.BytesIn, "bytes_out", r.BytesOut,
	}
	if r.Count > 0 {
		attrs = append(attrs, "count", r.Count)
	}
	a.Log.InfoContext(ctx, "access", attrs...)
}

// FileAudit writes the audit to a separate file, one JSON object per line.
type FileAudit struct {
	log  *slog.Logger
	mu   sync.Mutex // guards the fields below
	file io.WriteCloser
	told bool
}

// OpenFileAudit opens or creates the file, readable only by its owner.
func OpenFileAudit(path string, log *slog.Logger) (*FileAudit, error) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("auth.audit: %w", err)
	}
	return &FileAudit{log: log, file: f}, nil
}

// Write writes a line. A failing disk is logged once, and the call proceeds: the decision does not
// depend on it.
func (a *FileAudit) Write(ctx context.Context, l Line) {
	b, err := json.Marshal(recordOf(ctx, l))
	if err != nil {
		return // cannot happen: strings and numbers only
	}
	a.mu.Lock()
	_, err = a.file.Write(append(b, '\n'))
	tell := err != nil && !a.told
	a.told = err != nil
	a.mu.Unlock()
	if tell {
		a.log.ErrorContext(ctx, "audit not written", "err", err)
	}
}

// Close closes the file.
func (a *FileAudit) Close() error { return a.file.Close() }

// record is a line in JSON.
type record struct {
	Time      string `json:"time"`
	RequestID string `json:"request_id"`
	Issuer    string `json:"issuer"`
	Subject   string `json:"subject"`
	Tenant    string `json:"tenant"`
	Door      string `json:"door"`
	Method    string `json:"method"`
	Server    string `json:"server"`
	Target    string `json:"target"`
	Decision  string `json:"decision"`
	Rule      string `json:"rule"`
	BytesIn   int    `json:"bytes_in"`
	BytesOut  int    `json:"bytes_out"`
	Count     int    `json:"count,omitzero"`
}

func recordOf(ctx context.Context, l Line) record {
	r := record{
		Time: time.Now().UTC().Format(time.RFC3339Nano), RequestID: telemetry.RequestID(ctx), Door: string(l.Target.Door), Method: clip(l.Method), Server: l.Target.Server,
		Target: clip(l.Target.String()), Decision: l.Decision, Rule: l.Rule, BytesIn: l.BytesIn, BytesOut: l.BytesOut,
		Count: l.Count,
	}
	if p := l.Principal; p != nil {
		r.Issuer, r.Subject, r.Tenant = p.Issuer, p.Subject, p.Tenant
	}
	return r
}

// clip shortens text that a client may have chosen.
func clip(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}
