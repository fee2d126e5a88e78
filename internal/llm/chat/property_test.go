package chat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"secateur/internal/llm/bill"
	"secateur/internal/rawjson"
)

// failer is the common part of a test and a property.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// message is a message as a test sees it.
type message = map[string]json.RawMessage

// drawWord draws a message. Ids come from a small set, so that some repeat and some results have no
// call.
func drawWord(t *rapid.T) string {
	id := func() string {
		return fmt.Sprintf("c%d", rapid.IntRange(0, 40).Draw(t, "id"))
	}
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0:
		return "u:" + rapid.StringN(0, 20, -1).Draw(t, "asked")
	case 1:
		return "a:"
	case 2, 3:
		return "a:" + id() + "@t" + fmt.Sprint(rapid.IntRange(0, 3).Draw(t, "tool"))
	case 4:
		return "a:" + id() + "," + id()
	case 5:
		return "raw:" + rapid.SampledFrom([]string{
			`{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"x"}]}`,
			`{"role":"tool","tool_call_id":"c2","content":null}`,
			`{"role":"tool","tool_call_id":3,"content":"x"}`,
			`{"role":"assistant","tool_calls":[]}`,
			`{"role":"assistant","tool_calls":"x"}`,
			`{"role":"assistant","content":"é","tool_calls":[{"id":"c5"},{"id":6},null]}`,
			`{"role":"tool","content":"no id"}`, `7`, `[]`, `{}`,
			`{"role":"tool","tool_call_id":"c7","content":"x","is_error":true}`,
		}).Draw(t, "odd")
	case 6:
		return "t:" + id() + "=Error: " + strings.Repeat("no such file ", rapid.IntRange(0, 40).Draw(t, "n"))
	default:
		return "t:" + id() + "=" + strings.Repeat(rapid.SampledFrom([]string{"text ", "ligne é\n", "😀\"\\"}).Draw(t, "word"), rapid.IntRange(0, 400).Draw(t, "n"))
	}
}

func drawSettings(t *rapid.T) Settings {
	s := Default()
	s.Strategy = rapid.SampledFrom([]string{Sliding, Stepped, Priced}).Draw(t, "strategy")
	s.WindowTurns = rapid.IntRange(1, 5).Draw(t, "window")
	s.StepTurns = rapid.IntRange(1, 4).Draw(t, "step")
	s.KeepErrors = rapid.Bool().Draw(t, "keep_errors")
	s.KeepLastKPerTool = rapid.IntRange(0, 2).Draw(t, "keep_last")
	s.MinChars = rapid.SampledFrom([]int{0, 0, 100}).Draw(t, "min_chars")
	s.MaxLoss = rapid.SampledFrom([]float64{0, 0.05, 1}).Draw(t, "max_loss")
	s.Recover = rapid.SampledFrom([]string{RecoverNone, RecoverHint}).Draw(t, "recover")
	return s
}

func drawPruning(t *rapid.T) Pruning {
	p := smallPruning
	p.Repeats = rapid.Bool().Draw(t, "repeats")
	p.Arguments = rapid.SampledFrom([]string{ArgumentsOff, ArgumentsOn}).Draw(t, "arguments")
	return p
}

// TestOnlyOldResultsChange checks the invariants on random conversations. No message is added,
// removed or moved. Only the content of tool results changes. The newest turns stay whole, and so
// does everything that the model has not answered.
func TestOnlyOldResultsChange(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		words := rapid.SliceOfN(rapid.Custom(drawWord), 0, 60).Draw(rt, "words")
		s := drawSettings(rt)
		body := talk(words...)
		out, plan := decideWith(rt, body, s, nil, bill.Prices{Input: 1}, nil)
		before, after := raws(t, body), raws(t, out)
		if len(before) != len(after) {
			rt.Fatalf("%d messages became %d", len(before), len(after))
		}
		window, lastAnswer := newestTurns(before, s.WindowTurns)
		changed := 0
		for i := range before {
			if bytes.Equal(before[i], after[i]) {
				continue
			}
			changed++
			var a, b message
			if json.Unmarshal(before[i], &a) != nil || json.Unmarshal(after[i], &b) != nil {
				rt.Fatalf("message %d is no object: %s", i, before[i])
			}
			if string(a["role"]) != `"tool"` {
				rt.Errorf("message %d of role %s changed", i, a["role"])
			}
			if a["content"][0] != '"' {
				rt.Errorf("message %d had no string content: %s", i, before[i])
			}
			delete(a, "content")
			delete(b, "content")
			if !reflect.DeepEqual(a, b) {
				rt.Errorf("message %d: %s became %s", i, before[i], after[i])
			}
			if window[string(a["tool_call_id"])] {
				rt.Errorf("message %d of the newest turns changed", i)
			}
			if i > lastAnswer {
				rt.Errorf("message %d was not answered yet", i)
			}
		}
		if changed != len(plan.Cuts) {
			rt.Errorf("%d messages changed, %d cuts", changed, len(plan.Cuts))
		}
		for _, cut := range plan.Cuts {
			plan.Keep(cut.Message)
		}
	})
}

func raws(t failer, body []byte) []json.RawMessage {
	t.Helper()
	var doc struct {
		Messages []json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal(body, &doc); err != nil {
		t.Fatalf("%v", err)
	}
	return doc.Messages
}

// newestTurns returns the raw ids of the newest turns, and the index of the last answer.
func newestTurns(messages []json.RawMessage, window int) (ids map[string]bool, lastAnswer int) {
	ids, lastAnswer = make(map[string]bool), -1
	for i, raw := range slices.Backward(messages) {
		var m struct {
			Role      string            `json:"role"`
			ToolCalls []json.RawMessage `json:"tool_calls"`
		}
		_ = json.Unmarshal(raw, &m)
		if m.Role != "assistant" {
			continue
		}
		lastAnswer = max(lastAnswer, i)
		turn := false
		for _, tc := range m.ToolCalls {
			var call struct {
				ID json.RawMessage `json:"id"`
			}
			if json.Unmarshal(tc, &call) == nil && len(call.ID) > 0 && call.ID[0] == '"' {
				turn = true
				if window > 0 {
					ids[string(call.ID)] = true
				}
			}
		}
		if turn {
			window--
		}
	}
	return ids, lastAnswer
}

func decideWith(t failer, body []byte, s Settings, r *Record, prices bill.Prices, pruned map[int]string) ([]byte, *Plan) {
	t.Helper()
	c, err := Read(body)
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	p := Decide(Input{
		Conversation: c, Masking: s, Past: Past{Record: r}, Prices: prices, Pruned: pruned,
		ID: func(text string) string { return fmt.Sprintf("prn_%026d", len(text)) },
	})
	return p.Append(nil), p
}

// TestASentPrefixChangesOnlyWithADeclaredCut grows conversations request by request, with records
// like a proxy's. Earlier messages are sent again byte for byte, up to the first cut that is
// declared as new.
func TestASentPrefixChangesOnlyWithADeclaredCut(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawSettings(rt)
		if s.Strategy == Sliding {
			s.Strategy = Priced
		}
		pruning := drawPruning(rt)
		read := rapid.SampledFrom([]float64{0.02, 0.1, 0.5, 1}).Draw(rt, "read")
		prices := bill.Prices{Input: 1, CachedInput: &read}
		tells := rapid.Bool().Draw(rt, "tells")
		store, frozen := map[Key][]byte{}, map[Key]string{}
		words := []string{"u:do it"}
		var last []json.RawMessage
		for turn := range rapid.IntRange(1, 25).Draw(rt, "turns") {
			out, plan := request(rt, talk(words...), s, pruning, prices, store, frozen, tells)
			now := raws(rt, out)
			first := len(now)
			for _, cut := range plan.Cuts {
				if cut.New {
					first = min(first, cut.Message)
				}
			}
			for i := range min(first, len(last)) {
				if !bytes.Equal(last[i], now[i]) {
					rt.Fatalf("request %d: message %d changed from %s to %s, declared from %d on", turn, i, last[i], now[i], first)
				}
			}
			if s.Strategy == Stepped && first < len(last) && plan.Masked() > 0 && (plan.results.turns-s.WindowTurns)%s.StepTurns != 0 {
				rt.Fatalf("request %d: the boundary moved between steps", turn)
			}
			last = now
			id := fmt.Sprintf("id%d", turn)
			text := strings.Repeat(rapid.SampledFrom([]string{"some_name = value\n", "x", "Error: no\n"}).Draw(rt, "line"), rapid.IntRange(0, 300).Draw(rt, "n"))
			call := "a:" + id
			if n := rapid.IntRange(0, 3).Draw(rt, "wrote"); n > 0 {
				call = asks(id, "Write", `{"file_path":"/a","content":`+quote(strings.Repeat("written_name = value\n", 60*n))+`}`)
			}
			words = append(words, call, "t:"+id+"="+text)
		}
	})
}

// request does what a proxy does with a request. Pruned bytes are frozen, and the record is stored
// in its encoded form.
func request(
	t failer, body []byte, s Settings, pruning Pruning, prices bill.Prices,
	store map[Key][]byte, frozen map[Key]string, tells bool,
) ([]byte, *Plan) {
	t.Helper()
	c, err := Read(body)
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	var r *Record
	for _, place := range c.Places() {
		if b, ok := store[place.Key]; ok {
			r = new(Record)
			if err := r.UnmarshalBinary(b); err != nil {
				t.Fatalf("record: %v", err)
			}
			break
		}
	}
	pruned := map[int]string{}
	for _, job := range c.Jobs(pruning, Past{Record: r}) {
		text, ok := frozen[job.Key]
		if !ok && !job.Fresh {
			t.Fatalf("message %d was pruned before, and its bytes are asked for under another key", job.Message)
		}
		if !ok {
			job.Sent = pruned
			if text, ok = c.Prune(pruning, job, someID, nil); ok {
				frozen[job.Key] = text
			}
		}
		if ok {
			pruned[job.Message] = text
		}
	}
	p := Decide(Input{Conversation: c, Masking: s, Past: Past{Record: r}, Prices: prices, Pruned: pruned, ID: func(string) string { return someID }})
	var usage *bill.Usage
	if tells {
		req := p.goes()
		usage = &bill.Usage{Input: p.before.Account.Size(req) + 100, Told: true}
	}
	rec := p.Record(usage)
	b, err := rec.AppendBinary(nil)
	if err != nil {
		t.Fatalf("%v", err)
	}
	store[c.Key()] = b
	return p.Append(nil), p
}

// FuzzDecide reads and masks anything.
func FuzzDecide(f *testing.F) {
	f.Add([]byte(`{}`), uint8(0))
	f.Add(talk("u:q", "a:1,2", "t:1=A", "t:2=B", "a:3", "t:3=C", "a:", "u:x"), uint8(1))
	f.Add(talk("u:q", "a:1", "t:1="+strings.Repeat("line one_two\n", 60), "a:2", "t:2=B", "a:3", "t:3=C"), uint8(2))
	f.Add([]byte(`{"messages":[{"role":"tool","tool_call_id":"1","content":"\ud800"},{"role":"assistant","tool_calls":[{"id":"1"}]}],"model":"x"}`), uint8(3))
	f.Fuzz(func(t *testing.T, body []byte, n uint8) {
		c, err := Read(body)
		if err != nil {
			return
		}
		s := Default()
		s.Strategy = []string{Sliding, Stepped, Priced}[n%3]
		s.WindowTurns, s.StepTurns, s.Recover = 1, 1, RecoverHint
		p := Pruning{Enabled: true, MinChars: 50, TargetChars: 20, MaxPruneRatio: 0.9, Repeats: n%2 == 0}
		pruned := map[int]string{}
		for _, job := range c.Jobs(p, Past{}) {
			job.Sent = pruned
			if text, ok := c.Prune(p, job, someID, nil); ok {
				pruned[job.Message] = text
			}
		}
		plan := Decide(Input{Conversation: c, Masking: s, Pruned: pruned, ID: func(string) string { return someID }})
		out := plan.Append(nil)
		if err := rawjson.Check(out, MaxDepth); err != nil {
			t.Fatalf("%v: %q became %q", err, body, out)
		}
		if len(plan.Cuts) == 0 && !bytes.Equal(out, body) {
			t.Fatalf("nothing was cut, but %q became %q", body, out)
		}
		rec := plan.Record(&bill.Usage{Input: 10})
		if len(c.Messages) > 0 {
			Decide(Input{Conversation: c, Masking: s, Pruned: pruned, Past: Past{Record: &rec}})
		}
	})
}

func FuzzRecord(f *testing.F) {
	r := Record{Messages: 9, Time: 5, Cuts: []Sent{{Message: 1, Kind: Pruned, ID: "prn_A", Removed: bill.Size{Tokens: 7}}, {Message: 4, Kind: Masked, Removed: bill.Size{Signs: 1}, Unsure: true}}, Off: true}
	b, _ := r.AppendBinary(nil)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		var r, again Record
		if r.UnmarshalBinary(b) != nil {
			return
		}
		out, err := r.AppendBinary(nil)
		if err != nil || again.UnmarshalBinary(out) != nil || !reflect.DeepEqual(r, again) {
			t.Fatalf("%+v came back as %+v", r, again)
		}
	})
}
