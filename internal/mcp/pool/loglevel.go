// Log levels: protocol revisions up to 2025-11-25, logging/setLevel.

package pool

import (
	"context"
	"slices"
	"time"

	"secateur/internal/rawjson"
)

// level is the severity of a log message; 0: none given.
type level int

const levelInfo level = 2

// levels are the protocol's levels, least severe first. The index is one less than the level.
var levels = [...]string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

func levelOf(s string) level { return level(slices.Index(levels[:], s) + 1) }

// SetLevel sets the minimum level of log messages for the member. It returns when all reached
// servers know. Each connection gets the most verbose level of its members. The error is
// ErrUnknownLevel, ErrOver or ctx's own; a server's refusal is not an error.
func (m *Member) SetLevel(ctx context.Context, name string) error {
	l := levelOf(name)
	if l == 0 {
		return ErrUnknownLevel
	}
	m.level.Store(int64(l))
	m.gather(ctx, func(*server) time.Duration { return m.pool.roster.Load().firstListWait }, (*Member).reached)
	var told []<-chan struct{}
	for _, c := range m.Conns() {
		c.fanout.ask()
		told = append(told, c.setLevel())
	}
	for _, done := range told {
		if err := m.wait(ctx, done); err != nil {
			return err
		}
	}
	return nil
}

// ask records that a member has chosen a level.
func (a *fanout) ask() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = true
}

// level returns the most verbose level that a member has chosen; 0: none.
func (a *fanout) level() (most, told level, session int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for m := range a.members {
		if l := level(m.level.Load()); l != 0 && (most == 0 || l < most) {
			most = l
		}
	}
	return most, a.told, a.session
}

// tell records the level that the server was told, if its session is still the same.
func (a *fanout) tell(l level, session int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.session == session {
		a.told = l
	}
}

// setLevel tells the server which log messages are wanted. The channel is closed afterwards.
func (c *Conn) setLevel() <-chan struct{} { return c.leveling.ask(c.jobs, c.tellLevel) }

func (c *Conn) tellLevel(ctx context.Context) {
	want, told, session := c.fanout.level()
	if want == 0 || want == told || !c.offers().logging {
		return // in the modern era each request carries its level
	}
	params := rawjson.AppendQuoted([]byte(`{"level":`), levels[want-1])
	if _, err := c.ask(ctx, "logging/setLevel", append(params, '}')); err != nil {
		c.pool.log.DebugContext(ctx, "log level not set", "server", c.ID(), "err", err)
		if _, refused := asServerError(err); !refused {
			return
		}
	}
	c.fanout.tell(want, session)
}
