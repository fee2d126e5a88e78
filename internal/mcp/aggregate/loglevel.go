package aggregate

import (
	"context"
	"slices"

	"secateur/internal/mcp/era"
	"secateur/internal/mcp/wire"
	"secateur/internal/rawjson"
)

// levels of log messages, from the least important (server/utilities/logging, after RFC 5424).
var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// hears reports whether the client wants a server's log message.
func (c *client) hears(m *wire.Message) bool {
	wanted := c.logLevel
	if c.era == era.Legacy {
		level := c.level.Load()
		if level == nil {
			return true
		}
		wanted = *level
	}
	at := slices.Index(levels, wanted)
	got := slices.Index(levels, rawjson.GetText(m.Params, "level"))
	return at >= 0 && (got < 0 || got >= at)
}

// setLevel says how much the client wants to hear, to all servers.
func (s *clientConn) setLevel(ctx context.Context, c *client, a request) reply {
	level := rawjson.GetText(a.Params, "level")
	if !slices.Contains(levels, level) {
		return refused(invalidParams("/level", "expected one of debug, info, notice, warning, error, critical, alert, emergency"))
	}
	c.level.Store(&level)
	if err := c.member.SetLevel(ctx, level); err != nil {
		return refused(callFailed(ctx, s.only, err))
	}
	return a.result([]byte("{}"))
}
