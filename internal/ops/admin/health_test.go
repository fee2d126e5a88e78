package admin_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"secateur/internal/ops/admin"
)

func TestReady(t *testing.T) {
	state := func(states ...string) (all []admin.ServerState) {
		for _, s := range states {
			all = append(all, admin.ServerState{ID: "files", State: s})
		}
		return all
	}
	for _, c := range []struct {
		rule     string
		servers  []admin.ServerState
		draining bool
		list     bool
		status   int
		want     string
		without  string
	}{
		{"no servers", nil, false, true, 200, `"ready"`, ""},
		{"all up", state("ready", "ready"), false, true, 200, `"files"`, ""},
		{"one still starting", state("ready", "starting"), false, true, 503, `"starting"`, ""},
		{"one down does not take the rest away", state("ready", "down"), false, true, 200, `"down"`, ""},
		{"draining", state("ready"), true, true, 503, `"stopping"`, ""},
		{"strangers see no servers", state("ready"), false, false, 200, `"ready"`, "files"},
	} {
		h := admin.Health{Draining: func() bool { return c.draining }, Servers: func() []admin.ServerState { return c.servers }}
		rec := httptest.NewRecorder()
		h.Ready(rec, c.list)
		body := rec.Body.String()
		if rec.Code != c.status || !strings.Contains(body, c.want) || (c.without != "" && strings.Contains(body, c.without)) {
			t.Errorf("%s: %d %s, want %d with %s", c.rule, rec.Code, body, c.status, c.want)
		}
	}
}
