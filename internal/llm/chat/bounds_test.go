package chat

import (
	"errors"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

// many writes a list of n items.
func many(item string, n int) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }

// crowded are requests with n of one thing, by format.
func crowded(f Format, n int) map[string]string {
	switch f {
	case Messages:
		return map[string]string{
			"messages": `{"model":"m","messages":[` + many(`{"role":"user","content":"a"}`, n) + `]}`,
			"blocks":   `{"messages":[{"role":"user","content":[` + many(`{"type":"text","text":"a"}`, n) + `]}]}`,
			"results":  `{"messages":[{"role":"user","content":[` + many(`{"type":"tool_result","tool_use_id":"c"}`, n) + `]}]}`,
			"parts":    `{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[` + many(`{}`, n) + `]}]}]}`,
			"tools":    `{"tools":[` + many(`{}`, n) + `],"messages":[]}`,
		}
	case Responses:
		return map[string]string{
			"items": `{"model":"m","input":[` + many(`{"role":"user","content":"a"}`, n) + `]}`,
			"parts": `{"input":[{"role":"user","content":[` + many(`{"type":"input_text","text":"a"}`, n) + `]}]}`,
			"tools": `{"tools":[` + many(`{}`, n) + `],"input":[]}`,
		}
	default:
		return map[string]string{
			"messages": `{"model":"m","messages":[` + many(`{"role":"user","content":"a"}`, n) + `]}`,
			"numbers":  `{"messages":[` + many(`1`, n) + `]}`,
			"parts":    `{"messages":[{"role":"user","content":[` + many(`{"type":"text","text":"a"}`, n) + `]}]}`,
			"calls":    `{"messages":[{"role":"assistant","tool_calls":[` + many(`{"id":"c"}`, n) + `]}]}`,
			"tools":    `{"tools":[` + many(`{}`, n) + `],"messages":[]}`,
		}
	}
}

func TestARequestHasABoundedNumberOfThings(t *testing.T) {
	for _, f := range []Format{Completions, Messages, Responses} {
		for what, body := range crowded(f, MaxItems+1) {
			if _, err := f.Read([]byte(body)); !errors.Is(err, ErrTooMany) {
				t.Errorf("%s: %d %s: %v, want ErrTooMany", f, MaxItems+1, what, err)
			}
		}
		for what, body := range crowded(f, MaxItems-1) { // a block list is inside of a message
			if _, err := f.Read([]byte(body)); err != nil {
				t.Errorf("%s: %d %s: %v", f, MaxItems-1, what, err)
			}
		}
	}
}

func TestMemoryIsChargedBeforeItIsTaken(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	none := func([]byte) Known { return Known{} }
	for _, f := range []Format{Completions, Messages, Responses} {
		for what, text := range crowded(f, MaxItems-1) {
			body := []byte(text)
			var charged int64
			before := heap()
			c, err := f.ReadWithin(body, none, func(bytes int64) error { charged += bytes; return nil })
			if err != nil {
				t.Fatal(err)
			}
			plan := Decide(Input{Conversation: c, Masking: Default(), Prices: claude, Past: Past{Touched: 1, Alone: true}, Now: 100})
			_ = plan.Record(nil)
			if taken := int64(heap() - before); taken > charged+256<<10 || charged > 8*taken+256<<10 {
				t.Errorf("%s: %s take %d bytes, charged were %d", f, what, taken, charged)
			}
			runtime.KeepAlive(plan)

			full := errors.New("full")
			before = heap()
			if _, err := f.ReadWithin(body, none, func(int64) error { return full }); len(c.Messages) > 0 && !errors.Is(err, full) {
				t.Errorf("%s: %s without room: %v", f, what, err)
			}
			if taken := heap() - before; taken > 256<<10 {
				t.Errorf("%s: %s that nobody has paid for took %d bytes", f, what, taken)
			}
		}
	}
}

// heap returns the total of allocated bytes.
func heap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

func TestTheModelIsReadWithoutTheRest(t *testing.T) {
	for body, want := range map[string]string{
		`{"model":"a","messages":[1,2`:             "a", // the rest is not read
		`{"messages":[{"model":"b"}],"model":"a"}`: "a",
		`{"messages":[]}`:                          "",
		`{"model":7}`:                              "",
	} {
		if got, err := Model([]byte(body)); got != want || err != nil {
			t.Errorf("%s: %q, %v, want %q", body, got, err, want)
		}
	}
	for _, body := range []string{`{"messages":[1,`, `[]`, ``, `{"a":1,"a":2}`} {
		if got, err := Model([]byte(body)); err == nil {
			t.Errorf("%s: %q, want an error", body, got)
		}
	}
	body := []byte(crowded(Completions, MaxItems)["messages"])
	if n := testing.AllocsPerRun(10, func() { _, _ = Model(body) }); n > 8 {
		t.Errorf("%v allocations", n)
	}
}
