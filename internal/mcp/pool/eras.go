// Detects after the handshake which eras a server speaks: protocol revision 2026-07-28, versioning,
// the error UnsupportedProtocolVersion (-32022).

package pool

import (
	"context"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"secateur/internal/mcp/era"
	"secateur/internal/mcp/upstream"
)

const (
	eraTimeout = 2 * time.Second // limit for a server to show that it speaks the modern era

	// noVersion is not a revision and never will be. A modern server refuses it and names the
	// revisions it speaks. Unlike after a real discover, no server then treats the connection as
	// modern.
	noVersion = "9999-12-31"
)

// eraCheck finds out whether a legacy server also speaks the modern era. Guarded by Pool.mu, except
// done.
type eraCheck struct {
	began  time.Time
	done   chan struct{} // closed when the check is finished
	modern bool          // the server speaks the modern era
	sure   bool          // a negative result was obtained while the server was up
}

func (e *eraCheck) over() bool { return isClosed(e.done) }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// mayBeBoth reports whether the server may speak the modern era beside the legacy one.
func (s *server) mayBeBoth() bool {
	auto := s.settings.Protocol == "" || s.settings.Protocol == upstream.ProtocolAuto
	return auto && s.settings.Transport != upstream.TransportSSE
}

// checkedEras returns the era check of a server, and starts it if a modern client needs it for the
// first time. The connection must be up in the legacy era. The caller holds Pool.mu.
func (f *Pool) checkedEras(s *server, c *Conn) *eraCheck {
	if s.eras != nil {
		return s.eras
	}
	check := newEraCheck()
	s.eras = check
	find := func(ctx context.Context) { f.tryModern(ctx, s, check) }
	if s.settings.URL == "" {
		find = func(ctx context.Context) { c.askEras(ctx, check) }
	}
	f.jobs.start(find)
	return check
}

func newEraCheck() *eraCheck { return &eraCheck{began: time.Now(), done: make(chan struct{})} }

// askEras asks on the live connection, after its lists, because some servers crash on the question.
// They are not asked again.
func (c *Conn) askEras(ctx context.Context, check *eraCheck) {
	sleep(ctx, eraTimeout, c.listed)
	wasUp := c.isUp()
	ask, cancel := context.WithTimeout(ctx, eraTimeout)
	defer cancel()
	result, err := c.ask(ask, "server/discover", []byte(
		`{"_meta":{"`+era.MetaVersion+`":"`+noVersion+`","`+era.MetaCapabilities+`":{}}}`))
	refused, said := asServerError(err)
	if said {
		result = refused.Object
	}
	f := c.pool
	f.mu.Lock()
	defer f.mu.Unlock()
	check.modern = namesModern(result)
	check.sure = err == nil || said || wasUp
	close(check.done)
	f.changed()
}

// namesModern reports whether a DiscoverResult or an error names a modern revision.
func namesModern(raw []byte) bool {
	var said struct {
		SupportedVersions []string `json:"supportedVersions"`
		Data              struct {
			Supported []string `json:"supported"`
		} `json:"data"`
	}
	if json.Unmarshal(raw, &said, lenient()) != nil {
		return false // a server may give data any shape
	}
	return slices.ContainsFunc(append(said.SupportedVersions, said.Data.Supported...), era.IsModern)
}

// tryModern tries to open a modern connection to a server that needs no process.
func (f *Pool) tryModern(ctx context.Context, s *server, check *eraCheck) {
	c, err := f.build(s, need{role: modern, protocol: upstream.ProtocolModern, caps: noCapabilities, trial: true})
	if err != nil {
		f.log.WarnContext(ctx, "connection not built", "server", s.settings.ID, "err", err)
	} else {
		f.mu.Lock()
		if f.state != stopped && !s.retired {
			s.conns = append(s.conns, c)
			f.start(c)
		}
		f.mu.Unlock()
		limit := time.NewTimer(min(s.startupTimeout(), eraTimeout))
		defer limit.Stop()
		select {
		case <-c.met:
		case <-limit.C:
		case <-ctx.Done():
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case c != nil && c.peer.Load() != nil:
		check.modern, s.modern = true, c
		f.idled(c)
	default:
		check.sure = s.shared != nil && s.shared.isUp() && (c == nil || !upstream.IsUnauthorized(c.stumbled))
		if c != nil {
			c.end()
		}
	}
	close(check.done)
	f.changed()
}
