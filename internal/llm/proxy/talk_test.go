package proxy_test

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/llm/bill"
	"secateur/internal/llm/proxy"
)

// A talk, which has no tool result, asks the store for little and writes one value a turn, after its answer. While the provider takes its time the
// expected cost is written, too: if we die, it is known.
func TestATalkWritesOneValueATurn(t *testing.T) {
	for _, c := range []struct {
		name  string
		takes time.Duration
		wrote []int32 // with each turn; the second notes that the conversation goes on, and that it began
	}{
		{"at once", 0, []int32{1, 3, 1, 1}},
		{"after a second", time.Second, []int32{2, 4, 2, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kept := &watched{}
				h, err := newDoor("http://127.0.0.1:1", "priced", &nearby{during: func() { time.Sleep(c.takes) }}, kept)
				if err != nil {
					t.Fatal(err)
				}
				messages := `{"role":"user","content":"x"}`
				for turn, want := range c.wrote {
					asked, wrote := kept.asked.Load(), kept.wrote.Load()
					h.ServeHTTP(nowhere{}, httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(`{"model":"m","messages":[`+messages+`]}`)))
					h.(ourDoor).WaitForBooks()
					if n := kept.wrote.Load() - wrote; n != want {
						t.Errorf("turn %d: %d values were written, want %d", turn, n, want)
					}
					if n := kept.asked.Load() - asked; n > 5 { // three places, when it was touched, what was learned
						t.Errorf("turn %d: %d values were asked for", turn, n)
					}
					messages += fmt.Sprintf(`,{"role":"assistant","content":"yes"},{"role":"user","content":"and %d?"}`, turn)
				}
				_ = h.(ourDoor).Close()
			})
		})
	}
}

// What a talk has cost is known when its first result comes: to this model, after a restart, and to another model.
func TestTheCostOfATalkIsKnownLater(t *testing.T) {
	for _, model := range []string{"m", "m2"} {
		kept := &watched{}
		p := newProvider(t, streaming(3000))
		start := func() *proxied {
			return newProxy(t, func(o *proxy.Options) {
				pruningOn(o)
				o.Masking, o.Records = masking("priced"), kept
				o.Providers["main"] = proxy.Provider{BaseURL: p.URL + "/v1", Prices: &bill.Prices{Input: 1}}
			}, one(p))
		}
		ask := func(model, messages string) {
			px := start()
			px.post(t, `{"model":"`+model+`","stream":true,"messages":[`+messages+`]}`)
			px.running.Wait()
		}
		talk := `{"role":"user","content":"x"}`
		ask("m", talk)
		talk += `,{"role":"assistant","content":"y"},{"role":"user","content":"z"}`
		ask("m", talk)
		ask(model, talk+`,{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"short"}`)
		if spent, want := math.Float64frombits(kept.spent.Load()), 9000/1e6; math.Abs(spent-want) > 1e-6 {
			t.Errorf("model %s: the record says that %v was spent, want %v", model, spent, want)
		}
	}
}
