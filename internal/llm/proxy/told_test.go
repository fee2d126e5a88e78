package proxy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"secateur/internal/llm/bill"
	"secateur/internal/llm/proxy"
	"secateur/internal/store/records"
)

// lines is the text of a log.
type lines struct {
	mu sync.Mutex
	bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.Write(p)
}

func TestWhatAnAnswerTellsIsLoggedAndCounted(t *testing.T) {
	for _, tt := range []struct {
		rule, strategy string
	}{
		{"masked", "sliding"},
		{"as it came", ""},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			var log lines
			px := newProxy(t, func(o *proxy.Options) {
				o.Masking = masking(tt.strategy)
				o.Masking.Enabled, o.Masking.WindowTurns = tt.strategy != "", 2
				o.Log = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			}, one(counting(t)))
			k := newTalk()
			for i := range 6 {
				k.turn("read", "{}", result(i, 20))
			}
			got := px.post(t, k.request("gpt-4o"))
			// And the handler has returned.
			if n := px.counted(t, "secateur_chat_requests_total", "outcome", "ok"); n != 1 {
				t.Fatalf("%v requests counted", n)
			}
			var said struct {
				Msg         string  `json:"msg"`
				Masked      int     `json:"masked"`
				TokensSaved int     `json:"tokens_saved"`
				BillRatio   float64 `json:"bill_ratio"`
			}
			if err := json.Unmarshal(log.Bytes(), &said); err != nil || said.Msg != "chat request passed" {
				t.Fatalf("the log says %s, %v", log.String(), err)
			}
			for header, logged := range map[string]string{
				"X-Secateur-Masked":       strconv.Itoa(said.Masked),
				"X-Secateur-Tokens-Saved": strconv.Itoa(said.TokensSaved),
				"X-Secateur-Bill-Ratio":   strconv.FormatFloat(said.BillRatio, 'f', 4, 64),
			} {
				if told := got.header.Get(header); told != logged {
					t.Errorf("%s is %s, the log says %s", header, told, logged)
				}
			}
			if (said.Masked > 0) != (tt.strategy != "") {
				t.Errorf("%d results were masked", said.Masked)
			}
			masked, saved := px.counted(t, "secateur_chat_masked_results_total"), px.counted(t, "secateur_chat_tokens_saved_total")
			if masked != float64(said.Masked) || saved != float64(said.TokensSaved) {
				t.Errorf("counted %v masked, %v tokens saved", masked, saved)
			}
			if ratio := px.observed(t, "secateur_chat_bill_ratio"); ratio != said.BillRatio {
				t.Errorf("counted a ratio of %v, want %v", ratio, said.BillRatio)
			}
		})
	}
}

// observed returns the sum of a histogram.
func (px *proxied) observed(t *testing.T, metric string) (sum float64) {
	t.Helper()
	px.running.Wait()
	families, err := px.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == metric {
			for _, m := range f.GetMetric() {
				sum += m.GetHistogram().GetSampleSum()
			}
		}
	}
	return sum
}

// A stream's headers are sent before the provider's counts. The log and the metrics report those,
// like the headers of a response in one piece.
func TestAStreamIsLoggedWithWhatItHasCost(t *testing.T) {
	const usage = `"usage":{"prompt_tokens":9000,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":0}}`
	play := func(stream bool) (told, logged, counted float64) {
		t.Helper()
		var log lines
		p := newProvider(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			if stream {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, `data: {"choices":[],`+usage+"}\n\ndata: [DONE]\n\n")
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":"ok"}}],`+usage+"}")
		})
		px := newProxy(t, func(o *proxy.Options) {
			o.Masking = masking("sliding")
			o.Masking.WindowTurns = 2
			o.Log = slog.New(slog.NewJSONHandler(&log, nil))
		}, one(p))
		k := newTalk()
		for i := range 6 {
			k.turn("read", "{}", result(i, 20))
		}
		got := px.post(t, k.request("gpt-4o"))
		counted = px.observed(t, "secateur_chat_bill_ratio")
		told, err := strconv.ParseFloat(got.header.Get("X-Secateur-Bill-Ratio"), 64)
		var said struct {
			BillRatio float64 `json:"bill_ratio"`
		}
		if err := errors.Join(err, json.Unmarshal(log.Bytes(), &said)); err != nil {
			t.Fatal(err)
		}
		return told, said.BillRatio, counted
	}
	want, _, _ := play(false)
	told, logged, counted := play(true)
	if told == want {
		t.Errorf("the headers of a stream tell %v: what was counted is what was expected", told)
	}
	if math.Abs(logged-want) > 0.0001 || logged != counted {
		t.Errorf("logged %v, counted %v, want %v", logged, counted, want)
	}
}

// The cost of reading a cut result again is reported in the header and in the log. The observer
// gets it for savings and history.
func TestADebtIsTold(t *testing.T) {
	read, write := 0.1e6, 1.25e6
	play := func(tool, second string) (header, logged, spent, through float64) {
		t.Helper()
		var log lines
		p := counting(t)
		px := newProxy(t, func(o *proxy.Options) {
			pruningOn(o)
			o.Log = slog.New(slog.NewJSONHandler(&log, nil))
			o.Providers["main"] = proxy.Provider{BaseURL: p.URL, Prices: &bill.Prices{Input: 1e6, CachedInput: &read, CacheWrite: &write}}
		}, nil)
		k := newTalk()
		k.turn("read", `{"path":"a"}`, result(1, 200))
		px.post(t, k.request("m"))
		px.running.Wait()
		k.turn(tool, `{"path":"a"}`, second)
		got := px.post(t, k.request("m"))
		px.running.Wait()
		header, err := strconv.ParseFloat(got.header.Get("X-Secateur-Bill-Ratio"), 64)
		var said struct {
			BillRatio float64 `json:"bill_ratio"`
		}
		all := strings.Split(strings.TrimSpace(log.String()), "\n")
		if err := errors.Join(err, json.Unmarshal([]byte(all[len(all)-1]), &said)); err != nil {
			t.Fatal(err)
		}
		spent, through = px.told.dollars()
		return header, said.BillRatio, spent, through
	}
	header, logged, spent, through := play("read", result(1, 200))
	// Equally long and whole, but not fetched again: a spared tool.
	_, _, same, without := play("task", result(2, 200))
	if math.Abs(spent-same) > 0.001*same {
		t.Fatalf("spent %v, without a debt %v: want the same", spent, same)
	}
	tokens := float64(len(result(1, 200))) / 4 // as the provider counts
	if debt, want := without-through, tokens*(1.25+5*0.1); math.Abs(debt-want) > 0.1*want {
		t.Errorf("a debt of %v is told to the observer, want about %v", debt, want)
	}
	if ratio := spent / through; math.Abs(header-ratio) > 0.0001 || math.Abs(logged-ratio) > 0.0001 {
		t.Errorf("the header tells %v, the log %v, the observer %v", header, logged, ratio)
	}
}

// leaving is a store at which a client hangs up while its request is recorded.
type leaving struct {
	*records.File
	hangUp func()
}

func (l leaving) Keep(ctx context.Context, _ string, _ []byte) error {
	l.hangUp()
	<-ctx.Done()
	return ctx.Err()
}

func TestAClientThatHasGoneIsNoFaultOfTheStore(t *testing.T) {
	var log lines
	ctx, hangUp := context.WithCancel(t.Context())
	px := newProxy(t, func(o *proxy.Options) {
		pruningOn(o)
		o.Records = leaving{onDisk(t, t.TempDir()), hangUp}
		o.Log = slog.New(slog.NewJSONHandler(&log, nil))
	}, one(counting(t)))
	k := newTalk()
	k.turn("read", "{}", result(0, 200))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, px.URL+"/v1/chat/completions", strings.NewReader(k.request("m")))
	if err != nil {
		t.Fatal(err)
	}
	if res, err := http.DefaultTransport.RoundTrip(req); err == nil {
		_ = res.Body.Close()
		t.Fatalf("a client that has hung up got %s", res.Status)
	}
	px.running.Wait()
	if strings.Contains(log.String(), "remembered") {
		t.Errorf("the log says %s", log.String())
	}
}
