package proxy_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"secateur/internal/llm/bill"
	"secateur/internal/llm/chat"
	"secateur/internal/llm/proxy"
	"secateur/internal/store/originals"
	"secateur/internal/store/records"
)

// talk is a conversation of an agent: each turn calls one tool, whose result is text.
type talk struct{ messages []string }

func newTalk() *talk {
	return &talk{[]string{`{"role":"system","content":"` + strings.Repeat("be good ", 600) + `"}`, `{"role":"user","content":"fix it"}`}}
}

func (k *talk) turn(tool, args, result string) {
	n := len(k.messages)
	quoted, _ := json.Marshal(result)
	argsQuoted, _ := json.Marshal(args)
	k.messages = append(k.messages,
		fmt.Sprintf(`{"role":"assistant","content":"step %d","tool_calls":[{"id":"call_%d","type":"function","function":{"name":%q,"arguments":%s}}]}`, n, n, tool, argsQuoted),
		fmt.Sprintf(`{"tool_call_id":"call_%d","role":"tool","content":%s,"extra":1.0}`, n, quoted))
}

func (k *talk) request(model string) string {
	return `{"model":"` + model + `","messages":[` + strings.Join(k.messages, ",") + `],"seed":12345678901234567890}`
}

func result(i, lines int) string {
	var b strings.Builder
	for j := range lines {
		fmt.Fprintf(&b, "result %d line %d: some text that is long enough to be worth it é\n", i, j)
	}
	return b.String()
}

// counting is a provider that reports usage and caches the prefix shared with the last prompt.
func counting(t *testing.T) *fakeProvider {
	t.Helper()
	var mu sync.Mutex
	var last string
	return newProvider(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		body := string(b)
		same := 0
		for same < min(len(last), len(body)) && last[same] == body[same] {
			same++
		}
		last = body
		cached := bill.Cacheable(float64(same) / 4)
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"choices":[{"message":{"role":"assistant","content":"ok"}}],"usage":{"prompt_tokens":%d,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":%d}}}`,
			len(body)/4, int(cached))
	})
}

func TestSlidingMasksWhatHasLeftTheWindow(t *testing.T) {
	p := counting(t)
	px := newProxy(t, func(o *proxy.Options) {
		o.Masking = masking("sliding")
		o.Masking.WindowTurns = 2
		o.Models = map[string]proxy.Model{"alias": {Provider: "main", Model: "real-model"}}
	}, one(p))
	k := newTalk()
	for i := range 4 {
		k.turn("read_file", `{"path":"a"}`, result(i, 20))
	}
	got := px.post(t, k.request("alias"))
	if got.status != 200 || got.header.Get("X-Secateur-Masked") != "2" {
		t.Fatalf("answer = %d %v", got.status, got.header)
	}
	if saved, err := strconv.Atoi(got.header.Get("X-Secateur-Tokens-Saved")); err != nil || saved < 400 {
		t.Errorf("X-Secateur-Tokens-Saved = %q", got.header.Get("X-Secateur-Tokens-Saved"))
	}
	if ids := originals.ID("", result(1, 20)) + ", " + originals.ID("", result(0, 20)); got.header.Get("X-Secateur-Originals") != ids {
		t.Errorf("X-Secateur-Originals = %q, want %q", got.header.Get("X-Secateur-Originals"), ids)
	}
	want := k.request("real-model")
	for i, n := range []int{2, 4} {
		text := result(i, 20)
		quoted, _ := json.Marshal(text)
		placeholder := fmt.Sprintf(`"[Observation masquée: résultat d’outil ancien (tool_call_id=call_%d, outil=read_file, chars=%d)]"`, n, len([]rune(text)))
		want = strings.Replace(want, string(quoted), placeholder, 1)
		if back, err := px.store.Get(t.Context(), "", originals.ID("", text)); err != nil || back != text {
			t.Errorf("original %d: %v", i, err)
		}
	}
	if sent := string(p.last(t).body); sent != want {
		t.Errorf("provider got\n%s\nwant\n%s", sent, want)
	}
	if n := px.counted(t, "secateur_chat_masked_results_total", "provider", "main"); n != 2 {
		t.Errorf("masked results counted: %v", n)
	}
}

func TestPricedNeverCostsMoreThanPassingThrough(t *testing.T) {
	cached := 0.5
	px, p := pricedProxy(t, &records.Memory{}, bill.Prices{Input: 1, CachedInput: &cached})
	k := newTalk()
	ratio, masked := 1.0, 0
	previous := ""
	for i := range 40 {
		k.turn("read_file", `{"path":"f`+strconv.Itoa(i)+`"}`, result(i, 40))
		got := px.post(t, k.request("m"))
		if got.status != 200 {
			t.Fatalf("turn %d: %+v", i, got)
		}
		now, _ := strconv.Atoi(got.header.Get("X-Secateur-Masked"))
		ratio, _ = strconv.ParseFloat(got.header.Get("X-Secateur-Bill-Ratio"), 64)
		sent, _, _ := strings.Cut(string(p.last(t).body), `],"seed"`)
		if now == masked && previous != "" && !strings.HasPrefix(sent, previous) {
			t.Errorf("turn %d: what was sent before has changed without being masked", i)
		}
		if now < masked {
			t.Errorf("turn %d: %d results masked, %d before", i, now, masked)
		}
		masked, previous = now, sent
	}
	if masked == 0 || ratio > 1 {
		t.Errorf("after 40 turns %d results are masked, bill ratio %v", masked, ratio)
	}
	px.running.Wait()
	spent, through := px.told.dollars()
	if spent <= 0 || spent > through {
		t.Errorf("spent %v dollars, passing through would have cost %v", spent, through)
	}
}

func pricedProxy(t *testing.T, r proxy.Records, prices bill.Prices) (*proxied, *fakeProvider) {
	t.Helper()
	p := counting(t)
	return newProxy(t, func(o *proxy.Options) {
		o.Masking = masking("priced")
		o.Records = r
		o.Providers["main"] = proxy.Provider{BaseURL: p.URL, Prices: &prices}
	}, nil), p
}

func TestARestartGoesOnWhereItWas(t *testing.T) {
	cached := 0.5
	prices := bill.Prices{Input: 1, CachedInput: &cached}
	dir := t.TempDir()
	open := func() proxy.Records {
		f, err := records.OpenFile(records.FileOptions{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	one, p := pricedProxy(t, open(), prices)
	restarted, q := pricedProxy(t, open(), prices)
	k := newTalk()
	for i := range 30 {
		k.turn("read_file", "{}", result(i, 40))
		one.post(t, k.request("m"))
		one.running.Wait() // its result is recorded
	}
	a := one.post(t, k.request("m"))
	one.running.Wait()
	b := restarted.post(t, k.request("m"))
	if a.header.Get("X-Secateur-Masked") == "0" || a.header.Get("X-Secateur-Masked") != b.header.Get("X-Secateur-Masked") {
		t.Errorf("masked = %s, after a restart %s", a.header.Get("X-Secateur-Masked"), b.header.Get("X-Secateur-Masked"))
	}
	if string(p.last(t).body) != string(q.last(t).body) {
		t.Error("what was sent before has changed with the restart")
	}
}

func pruning() chat.Pruning {
	s := chat.DefaultPruning()
	s.Enabled, s.MinChars, s.TargetChars = true, 4000, 2000
	return s
}

func TestBigResultsArePrunedOnceAndFrozen(t *testing.T) {
	p := counting(t)
	px := newProxy(t, func(o *proxy.Options) { o.Pruning = pruning() }, one(p))
	k := newTalk()
	big := result(0, 200)
	k.turn("read_file", `{"path":"line 77"}`, big)
	px.post(t, k.request("m"))
	first, _, _ := strings.Cut(string(p.last(t).body), `],"seed"`)
	if len(first) > len(k.request("m"))/2 || !strings.Contains(first, originals.ID("", big)) {
		t.Fatalf("the result was not pruned: %d bytes", len(first))
	}
	if back, err := px.store.Get(t.Context(), "", originals.ID("", big)); err != nil || back != big {
		t.Errorf("original: %v", err)
	}
	k.turn("read_file", `{"path":"again"}`, big)
	k.turn("pruner__recover_text", `{"prune_id":"x"}`, result(1, 200))
	got := px.post(t, k.request("m"))
	second := string(p.last(t).body)
	if !strings.HasPrefix(second, first) {
		t.Error("what was sent pruned is sent otherwise now")
	}
	for i, text := range []string{big, result(1, 200)} {
		if quoted, _ := json.Marshal(text); !strings.Contains(second, string(quoted)) {
			t.Errorf("result %d does not pass whole", i)
		}
	}
	if got.header.Get("X-Secateur-Masked") != "0" || got.header.Get("X-Secateur-Tokens-Saved") == "0" {
		t.Errorf("headers = %v", got.header)
	}
}

// Clients write their newest result as a list of parts to mark it for the cache, and later as a
// string. A result pruned in one form is sent alike in the other.
func TestAResultIsPrunedInAListAndStaysSo(t *testing.T) {
	p := counting(t)
	px := newProxy(t, pruningOn, one(p))
	k := newTalk()
	var before []string
	for i := range 3 {
		text := result(i, 200)
		k.turn("read_file", fmt.Sprintf(`{"path":"line 77 of %d"}`, i), text)
		at := len(k.messages) - 1
		quoted, _ := json.Marshal(text)
		write := func(content string) {
			k.messages[at] = fmt.Sprintf(`{"role":"tool","tool_call_id":"call_%d","content":%s}`, at-1, content)
		}
		write(`[{"type":"text","text":` + string(quoted) + `,"cache_control":{"type":"ephemeral"}}]`)
		px.post(t, k.request("m"))
		px.running.Wait()
		now := resultsIn(t, p.last(t).body)
		if len(now[i]) > len(text)/2 || !strings.Contains(now[i], originals.ID("", text)) {
			t.Fatalf("result %d of %d bytes went out in a list with %d", i, len(text), len(now[i]))
		}
		for j, was := range before {
			if now[j] != was {
				t.Errorf("result %d went out as\n%.300s\nand when its mark has moved on as\n%.300s", j, was, now[j])
			}
		}
		before = now
		write(string(quoted))
	}
}

// resultsIn returns the texts of the tool results of a request, in any form.
func resultsIn(t *testing.T, body []byte) (texts []string) {
	t.Helper()
	var request struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &request); err != nil {
		t.Fatal(err)
	}
	for _, m := range request.Messages {
		if m.Role != "tool" {
			continue
		}
		var text string
		var list []struct {
			Text string `json:"text"`
		}
		if json.Unmarshal(m.Content, &text) != nil {
			if err := json.Unmarshal(m.Content, &list); err != nil || len(list) != 1 {
				t.Fatalf("content %.200s, %v", m.Content, err)
			}
			text = list[0].Text
		}
		texts = append(texts, text)
	}
	return texts
}

func TestWhatCannotBeRememberedIsNotCut(t *testing.T) {
	for name, change := range map[string]func(*proxy.Options){
		"the store takes nothing":         func(o *proxy.Options) { o.Records = forgetful{} },
		"the store ends with the process": func(o *proxy.Options) { o.Forgetful = true },
	} {
		p := counting(t)
		px := newProxy(t, func(o *proxy.Options) {
			o.Pruning, o.Masking = pruning(), masking("priced")
			o.Providers["main"] = proxy.Provider{BaseURL: p.URL, Prices: &bill.Prices{Input: 1}}
			change(o)
		}, one(p))
		k := newTalk()
		for i := range 12 {
			k.turn("read_file", "{}", result(i, 200))
			if px.post(t, k.request("m")); string(p.last(t).body) != k.request("m") {
				t.Fatalf("%s: request %d did not go out as it came", name, i)
			}
		}
	}
}

// forgetful stores nothing.
type forgetful struct{}

func (forgetful) Get(context.Context, string) (value []byte, ok bool, err error) {
	return nil, false, nil
}
func (forgetful) Put(context.Context, string, []byte) error { return errors.New("no") }
func (forgetful) PutNew(context.Context, string, []byte) (bool, error) {
	return false, errors.New("no")
}

// brokenRecords panics.
type brokenRecords struct{ forgetful }

func (brokenRecords) Get(context.Context, string) (value []byte, ok bool, err error) {
	panic("broken")
}

// store is a store whose Put fails on demand.
type store struct {
	originals.Memory

	err  error
	puts atomic.Int32
}

func (s *store) Put(ctx context.Context, tenant, text string) (string, error) {
	s.puts.Add(1)
	if s.err != nil {
		return "", s.err
	}
	return s.Memory.Put(ctx, tenant, text)
}

func TestTroubleForwardsTheRequestAsItCame(t *testing.T) {
	for _, tt := range []struct {
		rule    string
		store   *store
		records proxy.Records
		puts    int32
		metric  string
	}{
		{"store full", &store{err: originals.ErrFull}, &records.Memory{}, 4, "secateur_chat_unmasked_total"},
		{"store down is asked once", &store{err: originals.ErrUnavailable}, &records.Memory{}, 1, "secateur_chat_unmasked_total"},
		{"a panic", &store{}, brokenRecords{}, 0, "secateur_chat_masking_failures_total"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			p := counting(t)
			px := newProxy(t, func(o *proxy.Options) {
				o.Masking, o.Pruning = masking("sliding"), pruning()
				o.Masking.WindowTurns = 1
				o.Originals, o.Records = tt.store, tt.records
				o.Models = map[string]proxy.Model{"alias": {Provider: "main", Model: "m"}}
			}, one(p))
			k := newTalk()
			for i := range 4 {
				k.turn("t", "{}", result(i, 200))
			}
			got := px.post(t, k.request("alias"))
			if sent := string(p.last(t).body); got.status != 200 || sent != k.request("m") {
				t.Errorf("status %d, provider got %d bytes, want %d", got.status, len(sent), len(k.request("m")))
			}
			if got.header.Get("X-Secateur-Masked") != "0" {
				t.Errorf("X-Secateur-Masked = %s", got.header.Get("X-Secateur-Masked"))
			}
			if n := tt.store.puts.Load(); n != tt.puts {
				t.Errorf("%d Puts, want %d", n, tt.puts)
			}
			if px.counted(t, tt.metric) == 0 {
				t.Errorf("%s is 0", tt.metric)
			}
		})
	}
}

func TestOriginalsAreRenewedWhileARequestHoldsThem(t *testing.T) {
	for _, tt := range []struct {
		rule string
		ttl  time.Duration
		puts int32
	}{
		{"with every request where their life is not known", 0, 6},
		{"only now and then where it is long", time.Hour, 2},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			p := counting(t)
			s := &store{}
			px := newProxy(t, func(o *proxy.Options) {
				o.Masking = masking("sliding")
				o.Masking.WindowTurns = 1
				o.Originals, o.OriginalsTTL = s, tt.ttl
			}, one(p))
			k := newTalk()
			for i := range 3 {
				k.turn("t", "{}", result(i, 10))
			}
			for range 3 {
				px.post(t, k.request("m"))
			}
			if n := s.puts.Load(); n != tt.puts {
				t.Errorf("%d Puts of 2 originals in 3 requests, want %d", n, tt.puts)
			}
		})
	}
}

func TestConcurrentRequestsOfOneConversationAgree(t *testing.T) {
	p := counting(t)
	px := newProxy(t, func(o *proxy.Options) {
		o.Masking, o.Pruning = masking("stepped"), pruning()
		o.Masking.WindowTurns, o.Masking.StepTurns = 2, 2
	}, one(p))
	k := newTalk()
	for i := range 10 {
		k.turn("t", "{}", result(i, 65))
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got := px.post(t, k.request("m")); got.status != 200 {
				t.Errorf("answer = %+v", got)
			}
		})
	}
	all.Wait()
	want := p.last(t).body
	for _, a := range p.asked {
		if string(a.body) != string(want) {
			t.Fatal("the same request went out in two forms")
		}
	}
}

func TestUsageIsReadFromEveryKindOfAnswer(t *testing.T) {
	const (
		plain  = `{"choices":[],"usage":{"prompt_tokens":100000,"prompt_tokens_details":{"cached_tokens":0}}}`
		stream = "data: " + plain + "\n\ndata: [DONE]\n\n"
	)
	packed := func(text string) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = io.WriteString(z, text)
		_ = z.Close()
		return b.String()
	}
	cached := 0.1
	for _, tt := range []struct {
		rule, kind, encoding, body string
		want                       float64 // dollars
	}{
		{"JSON", "application/json", "", plain, 0.2},
		{"packed JSON", "application/json", "gzip", packed(plain), 0.2},
		{"a stream", "text/event-stream", "", stream, 0.2},
		{"a stream with carriage returns", "text/event-stream; charset=utf-8", "", strings.ReplaceAll(stream, "\n", "\r\n"), 0.2},
		{"a packed stream", "text/event-stream", "gzip", packed(stream), 0.2},
		{"what we cannot unpack is estimated", "application/json", "br", plain, 0},
		{"what cannot be unpacked is estimated", "application/json", "gzip", plain, 0},
		{"what is far too long is estimated", "application/json", "", `{"x":"` + strings.Repeat("x", 5<<20) + `",` + plain[1:], 0},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			p := newProvider(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", tt.kind)
				if tt.encoding != "" {
					w.Header().Set("Content-Encoding", tt.encoding)
				}
				_, _ = io.WriteString(w, tt.body)
			})
			px := newProxy(t, func(o *proxy.Options) {
				o.Masking = masking("priced")
				o.Providers["main"] = proxy.Provider{BaseURL: p.URL, Prices: &bill.Prices{Input: 2, CachedInput: &cached}}
			}, nil)
			if got := px.post(t, newTalk().request("m")); got.body != tt.body {
				t.Errorf("the answer of %d bytes arrived as %d bytes", len(tt.body), len(got.body))
			}
			px.Close() // waits until everything is written
			spent, _ := px.told.dollars()
			if known := spent > 0.1999 && spent < 0.2001; spent <= 0 || known != (tt.want > 0) {
				t.Errorf("spent %v dollars, want %v", spent, tt.want)
			}
		})
	}
}

func TestARefusedRequestIsNotBooked(t *testing.T) {
	p := newProvider(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) })
	rec := &records.Memory{}
	px := newProxy(t, func(o *proxy.Options) { o.Masking, o.Records = masking("sliding"), rec }, one(p))
	px.post(t, newTalk().request("m"))
	px.Close() // waits until everything is written
	if rec.Len() != 0 {
		t.Errorf("%d records kept of a request that was refused", rec.Len())
	}
}

// TestAConversationThatGoesOnIsReadAsIfAlone sends a conversation request by request, and each
// request also to a proxy that has not seen the others.
func TestAConversationThatGoesOnIsReadAsIfAlone(t *testing.T) {
	change := func(o *proxy.Options) { o.Masking = masking("sliding") }
	p := newProvider(t, jsonAnswer(smallAnswer))
	px := newProxy(t, change, one(p))
	k := newTalk()
	for i := range 20 {
		k.turn("read", fmt.Sprintf(`{"n":%d}`, i), result(i, 30))
		if i == 15 {
			k.messages[9] = `{"role":"user","content":"the client has changed what was said"}`
		}
		body := k.request(fmt.Sprint("model-", i%3))
		px.post(t, body)
		got := p.last(t).body
		newProxy(t, change, one(p)).post(t, body)
		if want := p.last(t).body; !bytes.Equal(got, want) {
			t.Fatalf("request %d went out as %s, alone as %s", i, got, want)
		}
	}
}
