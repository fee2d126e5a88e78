package telemetry

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
)

// Format is the format of log lines. It may change at any time; the zero value is text.
type Format struct{ structured atomic.Bool }

// Set selects JSON, one object per line, or text.
func (f *Format) Set(structured bool) { f.structured.Store(structured) }

// NewLogger returns a logger that writes to w: one JSON object per line if structured, else text. A
// line about a request has its id as request_id.
func NewLogger(w io.Writer, level slog.Leveler, structured bool) *slog.Logger {
	var f Format
	f.Set(structured)
	return f.NewLogger(w, level)
}

// NewLogger returns a logger that writes to w in the current format. A line about a request has its
// id as request_id.
func (f *Format) NewLogger(w io.Writer, level slog.Leveler) *slog.Logger {
	opts, out := &slog.HandlerOptions{Level: level}, &oneWriter{w: w}
	return slog.New(requestLog{formatted{format: f, text: slog.NewTextHandler(out, opts), json: slog.NewJSONHandler(out, opts)}})
}

// oneWriter serializes lines from both handlers.
type oneWriter struct {
	mu sync.Mutex
	w  io.Writer
}

// Write writes a line.
func (o *oneWriter) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.w.Write(p)
}

// formatted writes a line with one of two handlers.
type formatted struct {
	format     *Format
	text, json slog.Handler
}

func (h formatted) now() slog.Handler {
	if h.format.structured.Load() {
		return h.json
	}
	return h.text
}

// Enabled reports whether lines of a level are written.
func (h formatted) Enabled(ctx context.Context, l slog.Level) bool { return h.now().Enabled(ctx, l) }

// Handle writes a line.
func (h formatted) Handle(ctx context.Context, r slog.Record) error { return h.now().Handle(ctx, r) }

// WithAttrs adds attributes to every line.
func (h formatted) WithAttrs(attrs []slog.Attr) slog.Handler {
	return formatted{h.format, h.text.WithAttrs(attrs), h.json.WithAttrs(attrs)}
}

// WithGroup puts the following attributes into a group.
func (h formatted) WithGroup(name string) slog.Handler {
	return formatted{h.format, h.text.WithGroup(name), h.json.WithGroup(name)}
}

// requestLog adds the request id from a line's context.
type requestLog struct{ slog.Handler }

// Handle writes a line.
func (h requestLog) Handle(ctx context.Context, r slog.Record) error {
	if id := RequestID(ctx); id != "" {
		r = r.Clone()
		r.AddAttrs(slog.String("request_id", id))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs adds attributes to every line.
func (h requestLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return requestLog{h.Handler.WithAttrs(attrs)}
}

// WithGroup puts the following attributes into a group.
func (h requestLog) WithGroup(name string) slog.Handler {
	return requestLog{h.Handler.WithGroup(name)}
}
