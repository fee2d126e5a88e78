package proxy_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"secateur/internal/llm/proxy"
	"secateur/internal/store/originals"
	"secateur/internal/store/records"
)

// onDisk opens records in a directory.
func onDisk(t *testing.T, dir string) *records.File {
	t.Helper()
	f, err := records.OpenFile(records.FileOptions{Dir: dir, TTL: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// half forgets values from Put, but not those from Keep.
type half struct{ *records.File }

func (half) Get(context.Context, string) (value []byte, ok bool, err error) { return nil, false, nil }

func (h half) Kept(ctx context.Context, key string) (value []byte, ok bool, err error) {
	return h.File.Kept(ctx, key)
}

// otherVersion returns records in an unknown form, as from a program of another version.
type otherVersion struct{ *records.File }

func (o otherVersion) Get(ctx context.Context, key string) ([]byte, bool, error) {
	b, ok, err := o.File.Get(ctx, key)
	if strings.HasPrefix(key, "record/") && len(b) > 0 {
		b[0] = 0xff
	}
	return b, ok, err
}

func partOf(turn int) string { return fmt.Sprintf("part %d\n", turn) + bigText(200) }

func TestWhatWasSentOnceIsSentForEver(t *testing.T) {
	for _, tt := range []struct {
		rule string
		next func(o *proxy.Options)
	}{
		{"another process", func(*proxy.Options) {}},
		{"the records of what it cost are lost", func(o *proxy.Options) {
			f, ok := o.Records.(*records.File)
			if ok {
				o.Records = half{f}
			}
		}},
		{"the records are of another version", func(o *proxy.Options) {
			f, ok := o.Records.(*records.File)
			if ok {
				o.Records = otherVersion{f}
			}
		}},
		{"another engine", func(o *proxy.Options) { o.Pruning.TargetChars = 1500 }},
		{"pruning is off", func(o *proxy.Options) { o.Pruning.Enabled = false }},
		{"the originals cannot be kept", func(o *proxy.Options) { o.Originals = &store{err: originals.ErrUnavailable} }},
	} {
		for path, talk := range map[string]func(int, func(int) string) string{
			"/v1/messages":  func(turns int, text func(int) string) string { return claudeTalk(turns, true, text) },
			"/v1/responses": codexTalk,
		} {
			t.Run(tt.rule+" "+path, func(t *testing.T) {
				dir := t.TempDir()
				p := anthropicProvider(t)
				both := map[string]*fakeProvider{"anthropic": p, "openai": p}
				px := newProxy(t, func(o *proxy.Options) { pruningOn(o); o.Records = onDisk(t, dir) }, both)
				for turns := 1; turns <= 3; turns++ {
					px.do(t, http.MethodPost, path, talk(turns, partOf))
					px.running.Wait()
				}
				before := string(p.last(t).body)
				px = newProxy(t, func(o *proxy.Options) { pruningOn(o); o.Records = onDisk(t, dir); tt.next(o) }, both)
				// The same, a rewind, forward again, and on.
				for _, again := range []int{3, 2, 3, 4} {
					px.do(t, http.MethodPost, path, talk(again, partOf))
					px.running.Wait()
					sent := string(p.last(t).body)
					short, long := withoutTail(before), withoutTail(sent)
					if len(short) > len(long) {
						short, long = long, short
					}
					if !strings.HasPrefix(long, short) {
						t.Fatalf("%d turns: what was sent before went out in another form", again)
					}
				}
			})
		}
	}
}

// withoutTail returns a request without what follows its last result, and without the mark on that.
func withoutTail(body string) string {
	body = strings.TrimSuffix(body, "]}")
	return strings.TrimSuffix(body, `,"cache_control":{"type":"ephemeral"}}]}`)
}

// unsafe accepts Put but fails on Keep.
type unsafe struct{ records.Memory }

func (u *unsafe) Keep(context.Context, string, []byte) error { return errors.New("disk full") }
func (u *unsafe) Kept(ctx context.Context, key string) (value []byte, ok bool, err error) {
	return u.Get(ctx, key)
}

func TestWhatCannotBeKeptSafeIsNotPruned(t *testing.T) {
	p := anthropicProvider(t)
	px := newProxy(t, func(o *proxy.Options) { pruningOn(o); o.Records = &unsafe{} }, anthropicOnly(p))
	for turns := 1; turns <= 3; turns++ {
		body := claudeTalk(turns, true, partOf)
		px.do(t, http.MethodPost, "/v1/messages", body)
		if string(p.last(t).body) != body {
			t.Fatalf("turn %d was cut, and nobody will know it", turns)
		}
	}
}

func TestARefusalOfWhatWasChangedLeavesTheConversationAlone(t *testing.T) {
	const refusal = `{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid ` + "`signature` in `thinking`" +
		` block. The block is bound to a different conversation."},"request_id":"r"}`
	var refuse atomic.Bool
	p := anthropicProvider(t)
	answer := p.answer
	p.answer = func(w http.ResponseWriter, r *http.Request) {
		if refuse.Load() {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, refusal)
			return
		}
		answer(w, r)
	}
	px := newProxy(t, pruningOn, anthropicOnly(p))
	px.do(t, http.MethodPost, "/v1/messages", claudeTalk(1, true, partOf))
	px.running.Wait()
	refuse.Store(true)
	got := px.do(t, http.MethodPost, "/v1/messages", claudeTalk(2, true, partOf))
	if got.status != 400 || got.body != refusal {
		t.Errorf("the refusal came as %d %s", got.status, got.body)
	}
	if n := px.counted(t, "secateur_chat_bound_refusals_total", "provider", "anthropic"); n != 1 {
		t.Errorf("%v refusals counted", n)
	}
	refuse.Store(false)
	cut := len(p.last(t).body)
	px.do(t, http.MethodPost, "/v1/messages", claudeTalk(3, true, partOf))
	if grown := len(p.last(t).body) - cut; grown < len(partOf(0)) {
		t.Errorf("the next result went out in %d bytes", grown)
	}
	// The client has dropped all thinking.
	px.do(t, http.MethodPost, "/v1/messages", claudeTalk(3, false, partOf))
	if !strings.Contains(string(p.last(t).body), quoted(partOf(2))) {
		t.Error("a conversation that was refused was cut on")
	}
}

func TestAThreadIsReplayedAsItWasSent(t *testing.T) {
	p := anthropicProvider(t)
	px := newProxy(t, pruningOn, anthropicOnly(p))
	first := `{"role":"user","content":"find it"}`
	call := `{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"s"},{"type":"tool_use","id":"toolu_9","name":"Bash","input":{}}]}`
	result := `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_9","content":` + quoted(bigText(200)) + `}]}`
	px.do(t, http.MethodPost, "/v1/messages", `{"model":"claude-opus-5-5","thread":{"type":"create"},"messages":[`+first+`]}`)
	px.do(t, http.MethodPost, "/v1/messages", `{"model":"claude-opus-5-5","thread":{"type":"continue","previous_message_id":"m"},"messages":[`+result+`]}`)
	px.running.Wait()
	sent := string(p.last(t).body)
	_, sent, _ = strings.Cut(sent, `"messages":[`)
	sent = strings.TrimSuffix(sent, "]}")
	if len(sent) > len(result)/2 {
		t.Fatal("a new result of a thread was not pruned")
	}
	next := `{"role":"assistant","content":"so"},{"role":"user","content":"and?"}`
	px.do(t, http.MethodPost, "/v1/messages", `{"model":"claude-opus-5-5","thread":{"type":"create"},"messages":[`+first+`,`+call+`,`+result+`,`+next+`]}`)
	if again := string(p.last(t).body); !strings.Contains(again, sent) {
		t.Error("what a thread was sent went out otherwise when it was created anew")
	}
}
