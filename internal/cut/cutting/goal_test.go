package cutting_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"secateur/internal/cut/cutting"
	"secateur/internal/cut/mask"
	"secateur/internal/rawjson"
	"secateur/internal/store/originals"
)

// recording is a store that remembers what it was given.
type recording struct {
	originals.Store
	put []string
}

func (r *recording) Put(ctx context.Context, tenant, text string) (string, error) {
	r.put = append(r.put, tenant+"\x00"+text)
	return r.Store.Put(ctx, tenant, text)
}

// lines is a long text, different for each name.
func lines(name string) string {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "%s line %d has the value %d of all\n", name, i, i*31)
	}
	return b.String()
}

func newGoalCutter(t *testing.T, store originals.Store, log *slog.Logger) *cutting.Cutter {
	t.Helper()
	masker, err := mask.New(mask.Settings{MaxChars: 4000, Marker: "[{id}]"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := cutting.New(cutting.Options{Masker: masker, Originals: store, Target: 2000, Door: "mcp", Log: log})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// result is a tool's result with a text.
func result(text string) []byte {
	return append(rawjson.AppendQuoted([]byte(`{"content":[{"type":"text","text":`), text), "}]}"...)
}

// prunes returns what is left of a text; "" where it passes whole.
func prunes(t *testing.T, c *cutting.Cutter, call cutting.Call, text string) string {
	t.Helper()
	doc := result(text)
	kept := c.Keep(t.Context(), call, doc, func(m *mask.Masker) []mask.Cut { return m.TextCuts(doc, m.LongString()) })
	if len(kept.IDs) == 0 {
		return ""
	}
	return string(kept.Append(nil))
}

func TestTheGoalReachesNeitherLogNorStore(t *testing.T) {
	var log bytes.Buffer
	for _, isFull := range []bool{false, true} {
		store := &recording{Store: &originals.Memory{MaxBytes: 1 << 20, TTL: time.Hour}}
		var into originals.Store = store
		if isFull {
			into = full{store}
		}
		c := newGoalCutter(t, into, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
		call := cutting.Call{
			Server: server{name: "files"}, Tool: "read", Session: &cutting.Session{},
			Goal: cutting.Goal{Focus: "confidential1", Call: "confidential2", Before: []string{"confidential3"}},
		}
		out := prunes(t, c, call, lines("first"))
		if isFull == (out != "") {
			t.Fatalf("full %v: left is %q", isFull, out)
		}
		if all := log.String() + out + strings.Join(store.put, ""); strings.Contains(all, "confidential") {
			t.Errorf("the goal is told: %s", all)
		}
	}
	if log.Len() == 0 {
		t.Error("nothing was logged")
	}
}

func TestASessionIsToldOnceHowToGetMore(t *testing.T) {
	c := newGoalCutter(t, &originals.Memory{MaxBytes: 1 << 20, TTL: time.Hour}, nil)
	call := cutting.Call{Server: server{name: "files"}, Tool: "read", Session: &cutting.Session{}, RecoverTool: "pruner-recover_text"}
	const note = ". Left out to save context; to read these lines, call pruner-recover_text with prune_id and ranges."
	first, second := prunes(t, c, call, lines("first")), prunes(t, c, call, lines("second"))
	if strings.Count(first, note) != 1 || strings.Contains(second, note) || !strings.Contains(second, "⟦PRUNED lines ") {
		t.Errorf("first %s\nsecond %s", first, second)
	}
}

func TestTheSameTextPassesWholeInItsSessionOnly(t *testing.T) {
	c := newGoalCutter(t, &originals.Memory{MaxBytes: 1 << 20, TTL: time.Hour}, nil)
	call := cutting.Call{Server: server{name: "files"}, Tool: "read", Session: &cutting.Session{}}
	if prunes(t, c, call, lines("a")) == "" || prunes(t, c, call, lines("a")) != "" || prunes(t, c, call, lines("b")) == "" {
		t.Error("not the second time, and that only")
	}
	call.Session = &cutting.Session{}
	if prunes(t, c, call, lines("a")) == "" {
		t.Error("another session gets it whole")
	}
	call.Session = nil
	for range 2 {
		if prunes(t, c, call, lines("a")) == "" {
			t.Error("without a session it is not cut")
		}
	}
}

func TestWhatIsPrunedIsRestoredByteForByte(t *testing.T) {
	store := &originals.Memory{MaxBytes: 1 << 20, TTL: time.Hour}
	c := newGoalCutter(t, store, nil)
	text := lines("odd \x7f \u2028 é") + "\r\n last"
	doc := result(text)
	kept := c.Keep(t.Context(), cutting.Call{Tenant: "a", Server: server{name: "files"}, Tool: "read"}, doc, func(m *mask.Masker) []mask.Cut { return m.TextCuts(doc, m.LongString()) })
	if len(kept.IDs) != 1 {
		t.Fatalf("ids %q", kept.IDs)
	}
	if got, err := store.Get(t.Context(), "a", kept.IDs[0]); err != nil || got != text {
		t.Errorf("Get = %d bytes, %v, want %d", len(got), err, len(text))
	}
	if _, err := store.Get(t.Context(), "b", kept.IDs[0]); err == nil {
		t.Error("another tenant has it")
	}
}

func TestASessionRemembersAFewCalls(t *testing.T) {
	var s cutting.Session
	for i := range 40 {
		s.Begin(fmt.Sprintf("call %d", i))
	}
	before := s.Begin("now")
	if len(before) != 20 || before[0] != "call 39" || before[19] != "call 20" {
		t.Errorf("remembered are %q", before)
	}
	s.Begin(strings.Repeat("x", 100_000))
	size := 0
	for _, call := range s.Begin("") {
		size += len(call)
	}
	if size > 8<<10 {
		t.Errorf("%d bytes are remembered", size)
	}
	if (*cutting.Session)(nil).Begin("x") != nil {
		t.Error("no session remembers")
	}
}

func TestSessionsWithoutAConnectionAreForgotten(t *testing.T) {
	var all cutting.Sessions
	now := time.Now()
	if all.Of("", now) != nil {
		t.Error("a client that is not known has a session")
	}
	first := all.Of("a", now)
	if all.Of("a", now.Add(time.Minute)) != first || all.Of("b", now) == first {
		t.Error("a session is not its client's")
	}
	if all.Of("a", now.Add(2*time.Hour)) == first {
		t.Error("an idle session is remembered")
	}
	kept := all.Of("kept", now.Add(3*time.Hour))
	for i := range 1000 {
		all.Of(fmt.Sprint(i), now.Add(2*time.Hour))
	}
	if all.Of("kept", now.Add(3*time.Hour)) != kept {
		t.Error("the one that was used last is forgotten")
	}
}
