package bill_test

import (
	"math"
	"testing"

	"secateur/internal/llm/bill"
)

func TestDiagnosticsOfACacheAreRead(t *testing.T) {
	const usage = `"usage":{"input_tokens":9,"cache_read_input_tokens":0,"cache_creation_input_tokens":100,"output_tokens":1}`
	for _, tt := range []struct {
		rule, doc, id string
		want          float64
	}{
		{"Anthropic's", `{"id":"msg_1",` + usage + `,"diagnostics":{"cache_miss_reason":{"type":"messages_changed","cache_missed_input_tokens":70}}}`, "msg_1", 70},
		{"in a stream", `{"type":"message_start","message":{"id":"msg_2",` + usage + `,"diagnostics":{"cache_miss_reason":{"type":"messages_changed","cache_missed_input_tokens":70}}}}`, "msg_2", 70},
		{"not about messages", `{"id":"msg_1",` + usage + `,"diagnostics":{"cache_miss_reason":{"type":"tools_changed","cache_missed_input_tokens":70}}}`, "msg_1", 0},
		{"nothing has changed", `{"id":"msg_1",` + usage + `,"diagnostics":null}`, "msg_1", 0},
		{"not known yet", `{"id":"msg_1",` + usage + `,"diagnostics":{"cache_miss_reason":null}}`, "msg_1", 0},
		{"another shape", `{"id":7,` + usage + `,"diagnostics":["x"]}`, "", 0},
		{"OpenAI's", `{"type":"response.completed","response":{"id":"resp_1","usage":{"input_tokens":109,"input_tokens_details":{"cached_tokens":0}},"prompt_cache_diagnostics":{"type":"cache_miss","reason":"input_changed","cache_missed_tokens":50,"comparison_reusable_tokens":90}}}`, "resp_1", 50},
		{"OpenAI's, a hit", `{"id":"resp_1","usage":{"input_tokens":109,"input_tokens_details":{"cached_tokens":0}},"prompt_cache_diagnostics":{"type":"cache_hit"}}`, "resp_1", 0},
	} {
		u, ok := bill.ParseUsage([]byte(tt.doc))
		if !ok || u.Missed != tt.want || u.ID != tt.id || u.Input != 109 {
			t.Errorf("%s: %+v, %v; want %v missed by %q", tt.rule, u, ok, tt.want, tt.id)
		}
		var m bill.Meter // later events of a stream have neither
		_, _ = m.Write([]byte("data: " + tt.doc + "\n\ndata: {\"usage\":{\"input_tokens\":9,\"cache_read_input_tokens\":0,\"cache_creation_input_tokens\":100,\"output_tokens\":5}}\n\n"))
		if u, ok := m.Usage(); !ok || u.Missed != tt.want || u.ID != tt.id || u.Output < 1 {
			t.Errorf("%s, streamed: %+v, %v; want %v missed by %q", tt.rule, u, ok, tt.want, tt.id)
		}
	}
}

// Without the diagnosis, passing through counts as having missed the cache as well.
func TestAMissThroughOurFaultIsALoss(t *testing.T) {
	read, write := 0.1, 1.25
	terms := bill.Prices{Input: 1, CachedInput: &read, CacheWrite: &write}.In(bill.Chat, "m")
	pieces := make([]bill.Piece, 20)
	for i := range pieces {
		pieces[i].Size = bill.Size{Tokens: 1000, Bytes: 3600}
	}
	first := bill.Request{Pieces: pieces[:19]}
	a := bill.Account{}.Settle(terms, first, bill.Usage{Input: 19000, Told: true})
	second := bill.Request{Pieces: pieces, Sent: 19, Same: 19, Likely: 19}
	u := bill.Usage{Input: 20000, Told: true} // nothing was cached
	if innocent := a.Settle(terms, second, u); innocent.Saved() != 0 {
		t.Errorf("a miss that has other causes lost %v", -innocent.Saved())
	}
	u.Missed = 30000 // more than the cache could have had
	guilty := a.Settle(terms, second, u)
	if want := -19000 * (write - read); math.Abs(guilty.Saved()-want) > 0.05*-want {
		t.Errorf("a miss through our fault saved %v, want %v", guilty.Saved(), want)
	}
	u.Missed = 5000
	if some := a.Settle(terms, second, u); math.Abs(some.Saved()+5000*(write-read)) > 1 {
		t.Errorf("a miss of 5000 tokens saved %v, want %v", some.Saved(), -5000*(write-read))
	}
}
