package llmproxy_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strconv"
	"sync"
	"testing"

	"secateur/internal/llmproxy"
)

// lines is a log's text.
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
			px := newProxy(t, func(o *llmproxy.Options) {
				o.Masking = masking(tt.strategy)
				o.Masking.Enabled, o.Masking.WindowTurns = tt.strategy != "", 2
				o.Log = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			}, one(counting(t)))
			k := newTalk()
			for i := range 6 {
				k.turn("read", "{}", result(i, 20))
			}
			got := px.post(t, k.request("gpt-4o"))
			if n := px.counted(t, "secateur_chat_requests_total", "outcome", "ok"); n != 1 { // and the handler has returned
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

// observed is the sum of a histogram.
func (px *proxied) observed(t *testing.T, metric string) (sum float64) {
	t.Helper()
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
