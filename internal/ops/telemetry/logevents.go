package telemetry

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"secateur/internal/ops/events"
)

// maxLogText limits the text of an event.
const maxLogText = 4 << 10

// LogToEvents also publishes log lines as events.
func LogToEvents(log *slog.Logger, feed *events.Feed) *slog.Logger {
	return slog.New(&eventLog{Handler: log.Handler(), feed: feed})
}

// eventLog passes lines on to a feed.
type eventLog struct {
	slog.Handler
	feed   *events.Feed
	server string      // value of the attribute server; "": none
	attrs  []slog.Attr // attributes of every line
	group  string      // prefix of attribute names
}

// Handle writes a line and publishes it.
func (h *eventLog) Handle(ctx context.Context, r slog.Record) error {
	line := events.Log{At: r.Time, Level: r.Level.String(), Server: h.server, RequestID: RequestID(ctx)}
	var text strings.Builder
	text.WriteString(r.Message)
	for _, a := range h.attrs {
		writeAttr(&text, "", a)
	}
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == serverKey && h.group == "" {
			line.Server = a.Value.String()
			return true
		}
		writeAttr(&text, h.group, a)
		return text.Len() < maxLogText
	})
	line.Text = text.String()
	if len(line.Text) > maxLogText {
		line.Text = strings.ToValidUTF8(line.Text[:maxLogText], "") + "…"
	}
	h.feed.Publish(line)
	return h.Handler.Handle(ctx, r)
}

// serverKey is the attribute with the server of a line.
const serverKey = "server"

// WithAttrs adds attributes to every line.
func (h *eventLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	next := *h
	next.Handler = h.Handler.WithAttrs(attrs)
	next.attrs = slices.Clip(h.attrs)
	for _, a := range attrs {
		if a.Key == serverKey && h.group == "" {
			next.server = a.Value.String()
			continue
		}
		a.Key = h.group + a.Key
		next.attrs = append(next.attrs, a)
	}
	return &next
}

// WithGroup puts the following attributes into a group.
func (h *eventLog) WithGroup(name string) slog.Handler {
	next := *h
	next.Handler = h.Handler.WithGroup(name)
	if name != "" {
		next.group = h.group + name + "."
	}
	return &next
}

// writeAttr appends " key=value" as slog's text format does. Values are resolved, so that secrets
// stay masked.
func writeAttr(text *strings.Builder, group string, a slog.Attr) {
	value := a.Value.Resolve()
	if a.Equal(slog.Attr{}) {
		return
	}
	if value.Kind() == slog.KindGroup {
		for _, inner := range value.Group() {
			writeAttr(text, group+a.Key+".", inner)
		}
		return
	}
	text.WriteByte(' ')
	text.WriteString(group + a.Key)
	text.WriteByte('=')
	s := value.String()
	if strings.ContainsAny(s, " \"=\n\r\t") || s == "" {
		s = strconv.Quote(s)
	}
	text.WriteString(s)
}
