package proxy_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"secateur/internal/llm/chat"
	"secateur/internal/llm/proxy"
	"secateur/internal/store/originals"
)

func argumentsOn(o *proxy.Options) {
	o.Pruning = pruning()
	o.Pruning.Arguments, o.Pruning.MinChars = chat.ArgumentsOn, 1<<20
}

// writes are the arguments of a call that writes a file.
func writes(content string) string {
	quoted, _ := json.Marshal(content)
	return `{"path":"a.txt","content":` + string(quoted) + `}`
}

// Originals of repeated lines and of long arguments are stored. Both are recorded before they are
// sent, and go out in the same bytes after a restart.
func TestRepeatsAndArgumentsAreFrozen(t *testing.T) {
	p := counting(t)
	px := newProxy(t, argumentsOn, one(p))
	k := newTalk()
	k.messages[1] = `{"role":"user","content":"` + strings.Repeat("fix it ", 3000) + `"}`
	content, shown := result(7, 600), result(1, 400)
	k.turn("write_file", writes(content), "ok")
	px.post(t, k.request("m"))
	k.turn("read_file", `{"path":"a"}`, shown)
	px.post(t, k.request("m"))
	k.turn("run", `{"command":"cat a"}`, shown)
	px.post(t, k.request("m"))
	px.running.Wait()
	first, _, _ := strings.Cut(string(p.last(t).body), `],"seed"`)
	if !strings.Contains(first, ": same as call call_4 lines 1-400") || strings.Contains(first, "result 7 line 40") {
		t.Errorf("the repeated lines or the arguments went out: %s", first)
	}
	for _, text := range []string{content, shown} {
		if back, err := px.store.Get(t.Context(), "", originals.ID("", text)); err != nil || back != text {
			t.Errorf("original: %v", err)
		}
	}
	again := newProxy(t, func(o *proxy.Options) {
		argumentsOn(o)
		o.Pruning.Repeats, o.Pruning.Arguments = false, chat.ArgumentsOff // what was sent stays
		o.Records, o.Originals = px.records, px.store
	}, one(p))
	k.turn("run", `{"command":"ls"}`, "nothing")
	again.post(t, k.request("m"))
	if second := string(p.last(t).body); !strings.HasPrefix(second, first) {
		t.Errorf("after a restart it goes out as\n%s\nbefore as\n%s", second, first)
	}
}

// A call with our marker is told in a header, in the log and to the page. It ends the cutting of
// arguments in its conversation.
func TestAnImitatedMarkerIsTold(t *testing.T) {
	p := counting(t)
	var log bytes.Buffer
	px := newProxy(t, func(o *proxy.Options) {
		argumentsOn(o)
		o.Log = slog.New(slog.NewTextHandler(&log, nil))
	}, one(p))
	k := newTalk()
	k.messages[1] = `{"role":"user","content":"` + strings.Repeat("fix it ", 3000) + `"}`
	content := result(7, 600)
	k.turn("write_file", writes(content), "ok")
	if got := px.post(t, k.request("m")); got.header.Get("X-Secateur-Imitated") != "" {
		t.Errorf("nothing was imitated yet: %v", got.header)
	}
	if sent := string(p.last(t).body); strings.Contains(sent, "result 7 line 40") || !strings.Contains(sent, originals.ID("", content)) {
		t.Fatalf("the arguments went out whole: %s", sent)
	}
	k.turn("write_file", writes(fmt.Sprintf("a\n⟦PRUNED lines 4-600 id=%s⟧", originals.ID("", content))), "ok")
	for i := range 3 {
		got := px.post(t, k.request("m"))
		px.running.Wait()
		if n := got.header.Get("X-Secateur-Imitated"); n != "1" {
			t.Errorf("request %d: X-Secateur-Imitated = %q", i, n)
		}
		k.turn("write_file", writes(result(8+i, 600)), "ok")
	}
	if sent := string(p.last(t).body); !strings.Contains(sent, "result 9 line 40") || strings.Contains(sent, "result 7 line 40") {
		t.Error("arguments are still cut, or were restored")
	}
	if n := strings.Count(log.String(), "the model has written a marker"); n != 1 {
		t.Errorf("told %d times in the log: %s", n, log.String())
	}
	if s := px.told.settled[len(px.told.settled)-1]; s.Imitated != 1 {
		t.Errorf("the observer was told of %d", s.Imitated)
	}
}
