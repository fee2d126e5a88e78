package downstream_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"secateur/internal/mcp/downstream"
	"secateur/internal/mcp/wire"
)

// ids returns the sorted ids of the responses in a JSON array.
func ids(t *testing.T, array string) string {
	t.Helper()
	var all []struct {
		ID    json.RawMessage `json:"id"`
		Error json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal([]byte(array), &all); err != nil {
		t.Fatalf("%v: %s", err, array)
	}
	var got []string
	for _, a := range all {
		if a.Error != nil {
			got = append(got, "!"+string(a.ID))
			continue
		}
		got = append(got, string(a.ID))
	}
	slices.Sort(got)
	return strings.Join(got, " ")
}

func TestBatch(t *testing.T) {
	h := build(t, &brain{})
	session := h.open(t, "2025-03-26")
	many := strings.Repeat(","+note("n"), 99)
	for _, c := range []struct {
		rule, body string
		header     []string
		status     int
		want       string // ids, or text in an error
	}{
		{"requests", `[` + call(1, "x") + `,` + call(`"b"`, "y") + `]`, nil, 200, `"b" 1`},
		{"one", ` [ ` + call(1, "x") + ` ] `, nil, 200, `1`},
		{"one that is wrong among others", `[` + call(1, "x") + `,{"id":2},3]`, nil, 200, `!2 !null 1`},
		{"notifications and responses alone", `[` + note("n") + `,{"jsonrpc":"2.0","id":1,"result":1}]`, nil, 202, ``},
		{"a notification among requests", `[` + note("n") + `,` + call(1, "x") + `]`, nil, 200, `1`},
		{"a hundred", `[` + call(1, "x") + many + `]`, nil, 200, `1`},
		{"one more", `[` + call(1, "x") + many + `,` + note("n") + `]`, nil, 400, `-32600`},
		{"nothing", `[]`, nil, 400, `-32600`},
		{"half", `[` + call(1, "x"), nil, 400, `-32700`},
		{"initialize", `[` + call(1, "x") + `,` + initialize("2025-03-26") + `]`, nil, 400, `initialize`},
		{"neither JSON nor a stream", `[` + call(1, "x") + `]`, []string{"Accept: text/html"}, 406, `-32600`},
		{"a notification of nobody's", `[` + call(1, "x") + `,` + note("n") + `]`, []string{nobody}, 401, `-32015`},
		{"at a server that is not known", `[` + call(1, "x") + `]`, []string{"Mcp-Session-Id: x"}, 404, `-32600`},
	} {
		resp := h.ask(t, "POST", "", c.body, append([]string{session}, c.header...)...)
		body := text(t, resp)
		switch {
		case resp.StatusCode != c.status:
			t.Errorf("%s: %d %s, want %d", c.rule, resp.StatusCode, body, c.status)
		case c.status == 200 && ids(t, body) != c.want, c.status != 200 && !strings.Contains(body, c.want):
			t.Errorf("%s: %s, want %s", c.rule, body, c.want)
		}
	}
}

func TestTheRequestsOfABatchRunSideBySide(t *testing.T) {
	var both sync.WaitGroup
	both.Add(2)
	h := build(t, &brain{handle: func(_ context.Context, _ *fakeSession, req *wire.Message, x downstream.Exchange) downstream.Answer {
		both.Done()
		both.Wait()
		if req.Method == "talks" {
			x.Send([]byte(note("first")))
		}
		return result(req, "1")
	}})
	session := h.open(t, "2025-03-26")
	got := eventsOf(h.ask(t, "POST", "", `[`+call(1, "x")+`,`+call(2, "talks")+`]`, session).Body).rest(t)
	slices.Sort(got)
	want := []string{`{"jsonrpc":"2.0","id":1,"result":1}`, `{"jsonrpc":"2.0","id":2,"result":1}`, note("first")}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestABatchOfStreamedAnswers(t *testing.T) {
	h := build(t, &brain{handle: func(_ context.Context, _ *fakeSession, req *wire.Message, _ downstream.Exchange) downstream.Answer {
		return streamed(result(req, "1"))
	}})
	session := h.open(t, "2025-03-26")
	body := `[` + call(1, "x") + `,` + call(2, "x") + `]`
	if got := eventsOf(h.ask(t, "POST", "", body, session).Body).rest(t); len(got) != 2 {
		t.Errorf("%q", got)
	}
	if got := text(t, h.ask(t, "POST", "", body, session, "Accept: application/json")); ids(t, got) != "1 2" {
		t.Errorf("%s", got)
	}
}
