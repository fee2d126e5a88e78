package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"secateur/internal/llm/bill"
	"secateur/internal/llm/replay"
	"secateur/internal/ops/admin"
)

// talk is a conversation in one of the formats: its head, and what each turn adds as answer and
// result.
type talk struct {
	format, model, list string
	head                string // further members of each request
	said                func(turn int) (answer, result string)
}

var talks = []talk{
	{"chat", "gpt-5", "messages", "", func(turn int) (string, string) {
		return fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":"c%d","type":"function","function":{"name":"read_log","arguments":"{\"part\":%d}"}}]}`, turn, turn),
			fmt.Sprintf(`{"role":"tool","tool_call_id":"c%d","content":%s}`, turn, logText(turn))
	}},
	{"messages", "claude-opus-5", "messages", `,"system":"You are careful."`, func(turn int) (string, string) {
		return fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":"look"},{"type":"tool_use","id":"c%d","name":"read_log","input":{"part":%d}}]}`, turn, turn),
			fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":%s}]}`, turn, logText(turn))
	}},
	{"responses", "gpt-5.6-sol", "input", `,"instructions":"Be careful.","store":false`, func(turn int) (string, string) {
		return fmt.Sprintf(`{"type":"reasoning","id":"r%d","summary":[]},{"type":"function_call","call_id":"c%d","name":"read_log","arguments":"{\"part\":%d}"}`, turn, turn, turn),
			fmt.Sprintf(`{"type":"function_call_output","call_id":"c%d","output":%s}`, turn, logText(turn))
	}},
}

// logText is a JSON string of about a thousand tokens.
func logText(turn int) string {
	var b strings.Builder
	for i := range 30 {
		fmt.Fprintf(&b, "2026-03-01T10:%02d:%02d worker-%d: step %d of the build is done, %d objects are left\\n", turn, i%60, i%7, i, 1000-i*turn)
	}
	return `"` + b.String() + `"`
}

// bodies returns the requests of that many turns, in order.
func (k talk) bodies(turns int) (all []string) {
	list := `{"role":"user","content":"The build fails. Find out why."}`
	for turn := range turns + 1 {
		all = append(all, fmt.Sprintf(`{"model":%q%s,%q: [ %s ],"user":"u"}`, k.model, k.head, k.list, list))
		answer, result := k.said(turn)
		list += "," + answer + "," + result
	}
	return all
}

func tryConversation(t *testing.T, c *controlled, request, model string) admin.TriedRequest {
	t.Helper()
	body, err := json.Marshal(admin.RequestTrial{Request: request, Model: model})
	if err != nil {
		t.Fatal(err)
	}
	res, text := c.ask(t, "POST", "/playground/conversation", string(body))
	var tried admin.TriedRequest
	if err := json.Unmarshal([]byte(text), &tried); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%d %s: %v", res.StatusCode, text, err)
	}
	return tried
}

// A single last request gives the same costs as `secateur replay` for all requests.
func TestTriedRequestCostsWhatReplaySays(t *testing.T) {
	c := control(t, "[observation_masking.schema1]\nstrategy = \"priced\"\nwindow_turns = 4\nmax_loss = 0.05\n[context_pruning]\nenabled = true\nmin_chars = 1000\ntarget_chars = 600\nmin_keep_lines = 4\n")
	cfg := c.live.Load().cfg
	for _, k := range talks {
		t.Run(k.format, func(t *testing.T) {
			const turns = 14
			all := k.bodies(turns)
			file := filepath.Join(t.TempDir(), "requests.jsonl")
			if err := os.WriteFile(file, []byte(strings.Join(all, "\n")), 0o600); err != nil {
				t.Fatal(err)
			}
			sessions, err := replay.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want, err := replay.Run(t.Context(), sessions, replay.Options{
				Strategies: replay.Strategies(cfg.ObservationMasking.Schema1, cfg.ContextPruning), Ruler: replay.Tokens,
				Prices: bill.LookupAt,
			})
			if err != nil {
				t.Fatal(err)
			}
			got := tryConversation(t, c, all[turns], "")
			same := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
			if got.Format != k.format || got.Model != k.model || got.Requests != want.Requests || got.Prices == nil || !same(got.PassthroughUSD, want.Dollars.Through) || got.PassthroughUSD == 0 {
				t.Errorf("%s of %s, %d requests for %v; replay: %d for %v", got.Format, got.Model, got.Requests, got.PassthroughUSD, want.Requests, want.Dollars.Through)
			}
			for i, s := range want.Dollars.Strategies {
				if g := got.Strategies[i]; g.Name != s.Name || !same(g.USD, s.Spent) || !same(g.Ratio, s.Spent/want.Dollars.Through) || g.Chosen != (s.Name == "priced + pruning, max_loss 0.05") {
					t.Errorf("tried %+v, replay %+v", g, s)
				}
			}
			checkOut(t, k, all[turns], got)
		})
	}
}

// checkOut compares the body that would be sent with the reported messages.
func checkOut(t *testing.T, k talk, request string, got admin.TriedRequest) {
	t.Helper()
	chosen, cut := admin.TriedStrategy{}, map[string]int{}
	for _, s := range got.Strategies {
		if s.Chosen {
			chosen = s
		}
	}
	back := got.Out
	for _, m := range got.Messages {
		cut[m.How]++
		if m.How == "kept" {
			if m.OriginalChars != m.KeptChars || m.TokensBefore != m.TokensAfter || m.Text != "" {
				t.Errorf("kept: %+v", m)
			}
			continue
		}
		if m.Role != "tool" || m.Tool != "read_log" || m.CallID == "" || m.KeptChars != len([]rune(m.Text)) || m.OriginalChars <= m.KeptChars || m.TokensBefore <= m.TokensAfter || m.TokensAfter <= 0 {
			t.Errorf("%s: %+v", m.How, m)
		}
		var turn int
		if _, err := fmt.Sscanf(m.CallID, "c%d", &turn); err != nil {
			t.Fatal(err)
		}
		at := strings.Index(back, fmt.Sprintf(`"c%d","content":`, turn))
		if k.format == "responses" {
			at = strings.Index(back, fmt.Sprintf(`"c%d","output":`, turn))
		}
		if at < 0 {
			t.Fatalf("no result c%d in what goes out", turn)
		}
		back = back[:at] + strings.Replace(back[at:], quote(t, m.Text), logText(turn), 1)
	}
	if back != request {
		t.Errorf("with the cut results put back it is not the request:\n%.300s", back)
	}
	if cut["masked"] != chosen.Masked || cut["pruned"] != chosen.Pruned || chosen.Masked+chosen.Pruned == 0 || chosen.Name == "" {
		t.Errorf("%v are cut, %+v", cut, chosen)
	}
}

// Cache marks move along with the end of a conversation; the last request has only the last ones.
func TestTriedRequestIsCachedAlongItsWay(t *testing.T) {
	k, marked := talks[1], []string{}
	c := control(t, "")
	for _, body := range k.bodies(12) {
		end := strings.LastIndex(body, "}")
		end = strings.LastIndex(body[:end], "]")
		last := strings.LastIndex(body[:end], "}") // of the message
		if content := strings.LastIndex(body[:last], "]"); strings.HasSuffix(body[:last], "]") {
			last = strings.LastIndex(body[:content], "}") // of its last block
			body = body[:last] + `,"cache_control":{"type":"ephemeral"}` + body[last:]
		}
		marked = append(marked, body)
	}
	last := marked[len(marked)-1]
	with, without := tryConversation(t, c, last, ""), tryConversation(t, c, k.bodies(12)[12], "")
	if !strings.Contains(last, "cache_control") || with.PassthroughUSD > without.PassthroughUSD/2 {
		t.Errorf("%v with marks, %v without", with.PassthroughUSD, without.PassthroughUSD)
	}
}

// A model without prices has no costs, but the sent body is shown. Prices of another model can be
// chosen.
func TestTriedRequestWithoutPrices(t *testing.T) {
	c := control(t, "[observation_masking.schema1]\nenabled = false\n", "")
	request := " " + strings.Replace(talks[0].bodies(3)[3], "gpt-5", "nobody-knows-it", 1) + "\n"
	got := tryConversation(t, c, request, "")
	if got.Prices != nil || got.PassthroughUSD != 0 || len(got.Strategies) != 1 || got.Strategies[0].Name != "as configured" || !got.Strategies[0].Chosen || got.Out != request || len(got.Messages) != 7 || got.Requests != 4 {
		t.Errorf("without prices: %+v", got)
	}
	got = tryConversation(t, c, request, "gpt-5")
	if got.Model != "gpt-5" || got.Prices == nil || got.Prices.CachedInput >= got.Prices.Input || got.PassthroughUSD <= 0 || len(got.Strategies) != 8 || got.Strategies[7].USD != got.PassthroughUSD {
		t.Errorf("as gpt-5: %+v", got)
	}
}

func TestRequestsThatAreNotTried(t *testing.T) {
	c := control(t, "")
	for request, want := range map[string]string{
		"":              "line 1: there is no request",
		"hello":         "line 1: not JSON",
		"{\n\"model\":": "line 2: ",
		`{"model":"m","messages":[{"role":"user","content":"a"}]} {}`:    "line 1: something follows the request",
		`[{"model":"m","messages":[{"role":"user","content":"a"}]}]`:     "line 1: not the body of a request",
		"{\"messages\":[],\n\"messages\":[]}":                            "line 2: not JSON: duplicate",
		`{"colour":"blue"}`:                                              `found an object with "colour", not the body`,
		`{"id":"s","messages":[{"role":"user","content":"a"}]}`:          "a recorded session",
		`{"model":"gpt-5"}`:                                              "in the format chat: /messages: nothing is in it",
		`{"system":"s","messages":"a"}`:                                  "in the format messages: /messages: a list is expected, found string",
		`{"model":"gpt-5","input":[{"role":"user","content":"a"},7]}`:    `in the format responses: /input/1: an object is expected, found "7"`,
		`{"model":"gpt-5","messages":[{"role":"user"},{"content":"a"}]}`: "in the format chat: /messages/1/role",
		`{"a":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `,"model":"m","messages":[{"role":"user"}]}`: "nested too deeply",
	} {
		body, err := json.Marshal(admin.RequestTrial{Request: request})
		if err != nil {
			t.Fatal(err)
		}
		res, text := c.ask(t, "POST", "/playground/conversation", string(body))
		if wantProblem(t, res, text, http.StatusBadRequest, "invalid_request"); !strings.Contains(strings.ReplaceAll(text, `\"`, `"`), want) {
			t.Errorf("%.80s: %s, want %s", request, text, want)
		}
	}
	many := `{"model":"m","messages":[` + strings.Repeat(`{"role":"assistant"},{"role":"user"},`, 5000) + `{"role":"user"}]}`
	for _, body := range [][]byte{bytes.Repeat([]byte(" "), 5<<20), []byte(`{"request":` + quote(t, many) + `}`)} {
		res, text := c.ask(t, "POST", "/playground/conversation", string(body))
		wantProblem(t, res, text, http.StatusRequestEntityTooLarge, "invalid_request")
	}
}

// quote returns a JSON string with < > & unescaped.
func quote(t *testing.T, s string) string {
	t.Helper()
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// A trial is no exchange: it leaves no original, no cut and no conversation.
func TestTriedRequestsLeaveNoTrace(t *testing.T) {
	c := control(t, "[context_pruning]\nenabled = true\nmin_chars = 1000\ntarget_chars = 600\nmin_keep_lines = 4\n")
	got := tryConversation(t, c, talks[0].bodies(9)[9], "")
	if got.Out == talks[0].bodies(9)[9] {
		t.Error("nothing would be cut")
	}
	if n := c.store.Stats().Count; n != 0 {
		t.Errorf("%d originals", n)
	}
	for _, list := range []string{"/cuts", "/conversations"} {
		if all := get[admin.Page[any]](t, c, list).Items; len(all) != 0 {
			t.Errorf("%s: %v", list, all)
		}
	}
}
