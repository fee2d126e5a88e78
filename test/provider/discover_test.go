package provider_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"secateur/internal/llm/bill"
	"secateur/internal/llm/chat"
	"secateur/internal/llm/discover"
	"secateur/internal/llm/replay"
	"secateur/test/provider"
)

// A recorded session costs what its provider charged, and would have cost what the provider charges behind the program, whatever its tokenizer.
func TestDiscoverAgreesWithTheProvider(t *testing.T) {
	for _, name := range provider.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, provider.Claude, nil)
			w.most = math.MaxInt
			w.ruler.Split = provider.Tokenizers[name]
			direct := &provider.Ruler{Terms: provider.Claude, Now: w.ruler.Now, Split: w.ruler.Split}
			k := newTalk("recorded", 5)
			var usages []bill.Usage
			var times []time.Time
			for range 40 {
				w.send(k)
				usages, times = append(usages, passed(t, direct, k.body())), append(times, w.now)
				k.turn()
			}
			file := filepath.Join(t.TempDir(), "export.json")
			if err := os.WriteFile(file, export(t, k, usages, times), 0o600); err != nil {
				t.Fatal(err)
			}
			const million, outputPrice = 1e6, 5.0
			read, write := provider.Claude.Read, provider.Claude.Write
			pruning := chat.DefaultPruning()
			pruning.Enabled = true
			files, skipped := discover.Find([]discover.Store{{Dir: file}})
			report, err := discover.Run(t.Context(), files, skipped, discover.Options{
				Prices: func(string, string) (bill.Prices, bool) {
					return bill.Prices{Input: 1, CachedInput: &read, CacheWrite: &write, Output: outputPrice, CacheTTL: provider.Claude.Life.Seconds()}, true
				},
				Pruning: replay.Strategy{Pruning: pruning}, Both: replay.Strategy{Masking: chat.Default(), Pruning: pruning},
			})
			if err != nil {
				t.Fatal(err)
			}
			got := report.Together
			paid := direct.Bill("").Paid/million + float64(len(usages))*20*outputPrice/million
			if got.Requests != len(usages) || math.Abs(got.Paid/paid-1) > 0.02 {
				t.Errorf("%v dollars for %d requests, the provider was paid %v", got.Paid, got.Requests, paid)
			}
			ratio, truth := 1-(got.Pruning.Dollars+got.Masking.Dollars)/(got.Paid-got.Output), w.whole(k).Ratio()
			if math.Abs(ratio-truth) > 0.02 {
				t.Errorf("the ratio is %.4f, the provider's %.4f", ratio, truth)
			}
			t.Logf("paid %.5f of %.5f, ratio %.4f of %.4f", got.Paid, paid, ratio, truth)
		})
	}
}

// passed sends a request past the program and returns what the provider counted.
func passed(t *testing.T, to *provider.Ruler, body []byte) bill.Usage {
	t.Helper()
	rec := httptest.NewRecorder()
	to.ServeHTTP(rec, httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/v1/chat/completions", bytes.NewReader(body)))
	answer := bytes.TrimPrefix(rec.Body.Bytes(), []byte("data: "))
	line, _, _ := bytes.Cut(answer, []byte("\n"))
	u, ok := bill.ParseUsage(line)
	if !ok {
		t.Fatalf("no usage in %s", rec.Body)
	}
	return u
}

// export writes a conversation as 'opencode export' does. The system prompt and the tools are not part of it.
func export(t *testing.T, k *talk, usages []bill.Usage, times []time.Time) []byte {
	t.Helper()
	type object = map[string]any
	var all []object
	answers := 0
	for _, raw := range k.messages {
		var m struct {
			Role       string `json:"role"`
			Content    string `json:"content"`
			ToolCallID string `json:"tool_call_id"`
			ToolCalls  []struct {
				ID       string `json:"id"`
				Function struct {
					Name      string `json:"name"`
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		}
		if err := json.Unmarshal([]byte(raw), &m); err != nil {
			t.Fatal(err)
		}
		id := fmt.Sprintf("msg_%04d", len(all))
		switch m.Role {
		case "user":
			all = append(all, object{
				"info":  object{"id": id, "role": "user", "time": object{"created": times[0].UnixMilli() - 1}},
				"parts": []object{{"id": "prt_0", "type": "text", "text": m.Content}},
			})
		case "assistant":
			u := usages[answers]
			parts := []object{{"id": "prt_0", "type": "text", "text": m.Content}}
			for i, c := range m.ToolCalls {
				parts = append(parts, object{
					"id": fmt.Sprintf("prt_%d", i+1), "type": "tool", "tool": c.Function.Name, "callID": c.ID,
					"state": object{"status": "completed", "input": json.RawMessage(c.Function.Arguments)},
				})
			}
			tokens := object{"input": 0, "output": u.Output, "cache": object{"read": u.Cached, "write": u.Input - u.Cached}}
			if u.Input < float64(provider.Claude.Minimum) {
				tokens = object{"input": u.Input, "output": u.Output}
			}
			all = append(all, object{
				"info": object{"id": id, "role": "assistant", "modelID": "m", "providerID": "p", "time": object{"created": times[answers].UnixMilli()}, "tokens": tokens}, "parts": parts,
			})
			answers++
		case "tool":
			for _, p := range all[len(all)-1]["parts"].([]object) {
				if p["callID"] == m.ToolCallID {
					p["state"].(object)["output"] = m.Content
				}
			}
		}
	}
	data, err := json.Marshal(object{"info": object{"id": "ses_1"}, "messages": all})
	if err != nil {
		t.Fatal(err)
	}
	return data
}
