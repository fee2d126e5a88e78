package admin_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"secateur/internal/access"
	"secateur/internal/ops/admin"
	"secateur/internal/ops/events"
	"secateur/internal/store/history"
)

// served runs a control plane without access control.
func served(t *testing.T, opt admin.Options) *httptest.Server {
	t.Helper()
	api, err := admin.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	for _, o := range api.Operations() {
		mux.HandleFunc(o.Pattern(), func(w http.ResponseWriter, r *http.Request) { o.Serve(w, r, access.Anonymous()) })
	}
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// event is an event that a client has read.
type event struct{ id, name, data string }

// listen reads n events of a stream after an id, or all until the stream ends if n is 0.
func listen(t *testing.T, address, lastID string, n int) (all []event) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if lastID != "" {
		req.Header.Set("Last-Event-ID", lastID)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if kind := res.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Fatalf("Content-Type = %q", kind)
	}
	var e event
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "id":
			e.id = value
		case "event":
			e.name = value
		case "data":
			e.data = value
		case "":
			if e.name != "" {
				all = append(all, e)
			}
			e = event{}
		}
		if n > 0 && len(all) == n {
			return all
		}
	}
	return all
}

// A stream resumes after the last event that its client has seen. If that is too old, it reports
// the number of lost events.
func TestEventsResume(t *testing.T) {
	feed := events.New()
	s := served(t, admin.Options{Events: feed})
	for i := range 3 {
		feed.Publish(events.Log{Server: "files", Level: "INFO", Text: fmt.Sprint("line ", i)})
	}
	feed.Publish(events.Server{ID: "files", State: "down", LastError: "exited"})
	first := listen(t, s.URL+"/api/v1/events", events.FromStart, 4)
	if first[0].name != "log" || !strings.Contains(first[0].data, `"text":"line 0"`) || first[0].id == "" || first[3].name != "server" ||
		first[3].data != `{"id":"files","state":"down","restarts":0,"last_error":"exited"}` {
		t.Errorf("events = %+v", first)
	}
	rest := listen(t, s.URL+"/api/v1/events", first[1].id, 2)
	if rest[0] != first[2] || rest[1] != first[3] {
		t.Errorf("behind %s: %+v, want %+v", first[1].id, rest, first[2:])
	}
	for range 5000 { // more than the feed keeps
		feed.Publish(events.Refusal{Door: "mcp", Reason: "acl"})
	}
	late := listen(t, s.URL+"/api/v1/events", first[0].id, 1)
	var gap events.Gap
	if err := json.Unmarshal([]byte(late[0].data), &gap); err != nil || late[0].name != "gap" || gap.Lost < 2000 {
		t.Errorf("after a long absence: %+v", late)
	}
	if strange := listen(t, s.URL+"/api/v1/events", "of-another-run-7", 1); strange[0].name != "gap" {
		t.Errorf("behind an id of another run: %+v", strange)
	}
}

// A stopping program ends its streams, which would delay it.
func TestEventsEndWithTheProgram(t *testing.T) {
	stopping := make(chan struct{})
	feed := events.New()
	s := served(t, admin.Options{Events: feed, Stopping: stopping})
	feed.Publish(events.Log{Text: "one"})
	close(stopping)
	if got := listen(t, s.URL+"/api/v1/events", events.FromStart, 0); len(got) > 1 {
		t.Errorf("events = %+v", got)
	}
}

// Filtered by type, and without following.
func TestEventsOfSomeTypes(t *testing.T) {
	feed := events.New()
	s := served(t, admin.Options{Events: feed})
	feed.Publish(events.Log{Text: "one"})
	feed.PublishRequest(events.Request{RequestID: "r", Door: "mcp", Method: "tools/call", Outcome: "ok"})
	feed.Publish(events.Log{Text: "two"})
	got := listen(t, s.URL+"/api/v1/events?types=log&follow=false", events.FromStart, 0)
	if len(got) != 2 || got[0].name != "log" || !strings.Contains(got[1].data, "two") {
		t.Errorf("events = %+v", got)
	}
	for _, bad := range []string{"types=logs", "follow=maybe"} {
		res, err := http.Get(s.URL + "/api/v1/events?" + bad)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %d", bad, res.StatusCode)
		}
	}
}

func fetch[T any](t *testing.T, address string) (status int, value T) {
	t.Helper()
	res, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&value); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, value
}

func TestCuts(t *testing.T) {
	feed := events.New()
	s := served(t, admin.Options{Events: feed})
	for i := range 5 {
		feed.Publish(events.Cut{ID: fmt.Sprint("prn_", i), Feature: []string{"mcp", "gateway"}[i%2], Server: "files", OriginalChars: 100, KeptChars: 10})
	}
	feed.Recovered("prn_2")
	_, all := fetch[admin.Page[events.Cut]](t, s.URL+"/api/v1/cuts")
	if len(all.Items) != 5 || all.Items[0].ID != "prn_4" || !all.Items[2].Recovered || all.Items[1].Recovered || all.Items[0].At.IsZero() {
		t.Errorf("cuts = %+v", all)
	}
	if _, some := fetch[admin.Page[events.Cut]](t, s.URL+"/api/v1/cuts?feature=gateway&server=files&limit=1"); len(some.Items) != 1 || some.Items[0].ID != "prn_3" || some.Next == nil {
		t.Errorf("cuts of the gateway = %+v", some)
	}
	if status, _ := fetch[admin.Problem](t, s.URL+"/api/v1/cuts?feature=none"); status != http.StatusBadRequest {
		t.Errorf("an unknown feature: %d", status)
	}
}

func TestSavings(t *testing.T) {
	h, err := history.Open(history.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h.Chat(history.Exchange{Provider: "kimi", Model: "k2", PromptTokens: 1000, CachedTokens: 500, Spent: 1, Passthrough: 3, Parts: []history.Part{{Feature: "masked", Weight: 1}}})
	h.Chat(history.Exchange{Provider: "kimi", Model: "k2", PromptTokens: 1000, Spent: 2, Passthrough: 1, Parts: []history.Part{{Feature: "pruned", Weight: 1}}})
	s := served(t, admin.Options{Savings: h.Query})
	_, total := fetch[map[string]any](t, s.URL+"/api/v1/savings")
	if total["spent_usd"] != 3.0 || total["passthrough_usd"] != 4.0 || total["saved_usd"] != 2.0 || total["lost_usd"] != 1.0 || total["cache_hit_rate"] != 0.25 || total["items"] != nil {
		t.Errorf("savings = %v", total)
	}
	_, by := fetch[admin.Savings](t, s.URL+"/api/v1/savings?by=feature&since=24h")
	if len(by.Items) != 2 || by.Items[0].Key != "masked" || by.Items[0].SavedUSD != 2 {
		t.Errorf("by feature = %+v", by)
	}
	for _, bad := range []string{"by=colour", "since=yesterday", "since=-1h", "since=0d"} {
		if status, p := fetch[admin.Problem](t, s.URL+"/api/v1/savings?"+bad); status != http.StatusBadRequest || p.Code != "invalid_request" {
			t.Errorf("%s: %d %+v", bad, status, p)
		}
	}
}
