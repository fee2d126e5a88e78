package downstream

import (
	"testing"
	"time"

	"secateur/internal/access"
)

func TestOneCallerDoesNotOpenTheSessionsOfAllOthers(t *testing.T) {
	g := registry{max: 64, idle: time.Hour, all: map[string]*httpSession{}, opening: map[*httpSession]struct{}{}}
	busy, quiet := &access.Principal{Subject: "busy"}, &access.Principal{Subject: "quiet", Tenant: "a"}
	open := func(p *access.Principal) *httpSession {
		if !g.reserve(p) {
			return nil
		}
		s := &httpSession{id: newID(), owner: p, ctx: t.Context()}
		g.expect(s)
		return s
	}
	var sessions []*httpSession
	for s := open(busy); s != nil && len(sessions) <= g.max; s = open(busy) {
		g.add(s)
		sessions = append(sessions, s)
	}
	if len(sessions) != 48 || g.count() != 48 {
		t.Errorf("one caller has %d of 64 sessions, want 48", len(sessions))
	}
	if s := open(quiet); s == nil {
		t.Error("another caller finds no session")
	} else {
		g.cancel(s)
	}
	g.remove(sessions[0])
	g.remove(sessions[0])
	if open(busy) == nil || open(busy) != nil {
		t.Error("a session that ends makes room for one")
	}
	for _, s := range g.list() {
		g.remove(s)
	}
}
