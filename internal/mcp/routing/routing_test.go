package routing_test

import (
	"strings"
	"testing"

	"secateur/internal/access"
	"secateur/internal/mcp/routing"
)

func TestDecide(t *testing.T) {
	table := routing.Settings{Routes: []routing.Route{
		{Server: access.Globs{"noisy"}, Method: access.Globs{"notifications/*"}, To: routing.Drop},
		{Server: access.Globs{"files", "db-*"}, Method: access.Globs{"notifications/message"}, To: routing.All},
		{Method: access.Globs{"sampling/createMessage"}, To: routing.Principals, Principals: access.Globs{"alice", "team-*"}},
		{Server: access.Globs{"shy"}, To: routing.Cause},
	}}
	for _, c := range []struct {
		rule, server, method string
		want                 routing.To
	}{
		{"the first row that matches", "noisy", "notifications/message", routing.Drop},
		{"a row is about its methods", "noisy", "roots/list", routing.Default},
		{"one of several patterns", "db-1", "notifications/message", routing.All},
		{"a key left out matches anything", "any", "sampling/createMessage", routing.Principals},
		{"every method of a server", "shy", "notifications/message", routing.Cause},
		{"progress belongs to its call", "shy", "notifications/progress", routing.Default},
		{"and is dropped all the same", "noisy", "notifications/progress", routing.Drop},
		{"news of lists are those of all servers", "shy", "notifications/tools/list_changed", routing.Default},
		{"and are dropped all the same", "noisy", "notifications/tools/list_changed", routing.Drop},
		{"no row", "any", "notifications/message", routing.Default},
	} {
		if got := table.Decide(c.server, c.method); got.To != c.want {
			t.Errorf("%s: Decide(%s, %s) = %q, want %q", c.rule, c.server, c.method, got.To, c.want)
		}
	}
	d := table.Decide("any", "sampling/createMessage")
	for subject, want := range map[string]bool{"alice": true, "team-a": true, "bob": false, "": false} {
		if d.Names(subject) != want {
			t.Errorf("Names(%q) = %t, want %t", subject, !want, want)
		}
	}
	if !(routing.Decision{To: routing.All}).Names("bob") {
		t.Error("all does not name bob")
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		route routing.Route
		want  string // prefixes of the mistakes
	}{
		{routing.Route{To: routing.Asked}, ""},
		{routing.Route{To: routing.Principals, Principals: access.Globs{"a"}}, ""},
		{routing.Route{}, `to: ""`},
		{routing.Route{To: "everyone"}, `to: "everyone"`},
		{routing.Route{To: routing.Principals}, "principals: missing"},
		{routing.Route{To: routing.All, Principals: access.Globs{"a"}}, "principals: are for"},
		{routing.Route{To: routing.All, Method: access.Globs{"notifications/tools/list_changed"}}, "to: progress"},
		{routing.Route{To: routing.Drop, Method: access.Globs{"notifications/tools/list_changed"}}, ""},
		{routing.Route{To: routing.All, Method: access.Globs{"notifications/*"}}, ""},
	} {
		err := c.route.Validate()
		if (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.route, err, c.want)
		}
	}
}
