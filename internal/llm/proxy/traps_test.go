package proxy_test

import (
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"secateur/internal/llm/bill"
	"secateur/internal/llm/proxy"
	"secateur/internal/store/records"
)

// Records of a conversation live as long as it continues, however old they are.
func TestRecordsAreRenewedByEveryRequest(t *testing.T) {
	dir := t.TempDir()
	p := anthropicProvider(t)
	// For an hour.
	px := newProxy(t, func(o *proxy.Options) { pruningOn(o); o.Records = onDisk(t, dir) }, anthropicOnly(p))
	before := ""
	for turns := 1; turns <= 5; turns++ {
		px.do(t, http.MethodPost, "/v1/messages", claudeTalk(turns, true, partOf))
		px.running.Wait()
		sent := string(p.last(t).body)
		if !strings.HasPrefix(sent, withoutTail(before)) {
			t.Fatalf("turn %d, most of an hour later: what was sent before went out in another form", turns)
		}
		before = sent
		age(t, dir, 50*time.Minute)
	}
	if len(before) > len(claudeTalk(5, true, partOf))/2 {
		t.Error("nothing was pruned")
	}
}

// age makes all files below a folder older.
func age(t *testing.T, dir string, by time.Duration) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		when := info.ModTime().Add(-by)
		return os.Chtimes(path, when, when)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A model may write a lone surrogate. Decoding and encoding it again would change it.
func TestALoneSurrogateInThinkingIsLeftAlone(t *testing.T) {
	p := anthropicProvider(t)
	px := newProxy(t, pruningOn, anthropicOnly(p))
	const thought = `"thinking":"so \ud83d, \udc00\ud800 and \u00e9"`
	body := strings.ReplaceAll(claudeTalk(2, true, partOf), `"thinking":""`, thought)
	got := px.do(t, http.MethodPost, "/v1/messages", body)
	sent := string(p.last(t).body)
	if got.status != http.StatusOK || strings.Count(sent, thought) != 2 || len(sent) >= len(body) {
		t.Errorf("answered %d; %d of 2 thoughts arrived as they were, in %d of %d bytes", got.status, strings.Count(sent, thought), len(sent), len(body))
	}
}

// Agents of one session share its id and may share call ids, but each has its own sent form.
func TestAgentsOfASessionAreConversationsOfTheirOwn(t *testing.T) {
	p := anthropicProvider(t)
	px := newProxy(t, pruningOn, anthropicOnly(p))
	talk := func(agent string, turns int) string {
		return claudeTalk(turns, true, func(turn int) string { return agent + " found this\n" + partOf(turn) })
	}
	before := map[string]string{}
	for turns := 1; turns <= 3; turns++ {
		for _, agent := range []string{"main", "one", "two"} {
			px.do(t, http.MethodPost, "/v1/messages", talk(agent, turns), "X-Claude-Code-Session-Id", "s", "X-Claude-Code-Agent-Id", agent, "X-Claude-Code-Parent-Agent-Id", "main")
			px.running.Wait()
			sent := p.last(t)
			if sent.header.Get("X-Claude-Code-Agent-Id") != agent || sent.header.Get("X-Claude-Code-Session-Id") != "s" {
				t.Errorf("headers: %v", sent.header)
			}
			body := string(sent.body)
			if !strings.HasPrefix(body, withoutTail(before[agent])) || len(body) > len(talk(agent, turns))/2 {
				t.Errorf("%s, turn %d: %d bytes, as before: %v", agent, turns, len(body), strings.HasPrefix(body, withoutTail(before[agent])))
			}
			for _, other := range []string{"main", "one", "two"} {
				if other != agent && strings.Contains(body, other+" found this") {
					t.Errorf("%s was sent what %s found", agent, other)
				}
			}
			before[agent] = body
		}
	}
}

// A client that summarizes begins another conversation. Carried-over messages are sent unchanged,
// and the old conversation can still continue.
func TestAClientsCompactionBeginsAnew(t *testing.T) {
	p := anthropicProvider(t)
	px := newProxy(t, pruningOn, anthropicOnly(p))
	send := func(body string) string {
		px.do(t, http.MethodPost, "/v1/messages", body)
		px.running.Wait()
		return string(p.last(t).body)
	}
	old := send(claudeTalk(2, true, partOf))
	compacted := func(turns int) string {
		return strings.Replace(claudeTalk(turns, true, partOf), "find compute_part_3", "What was said before, in short: nothing yet.", 1)
	}
	// The first request of the new conversation has two results. Only the one after the last answer
	// was never sent in it.
	first := send(compacted(2))
	if !strings.Contains(first, quoted(partOf(0))) || strings.Contains(first, quoted(partOf(1))) {
		t.Error("of what the client carried over something was cut, or the new result was not")
	}
	if next := send(compacted(3)); !strings.HasPrefix(next, withoutTail(first)) {
		t.Error("the new conversation was sent in another form")
	}
	if back := send(claudeTalk(3, true, partOf)); !strings.HasPrefix(back, withoutTail(old)) {
		t.Error("the conversation before was sent in another form")
	}
}

// With a server-side compaction, the counts beside the iterations leave some out. So the iterations
// are summed.
func TestIterationsAreSummed(t *testing.T) {
	const usage = `"usage":{"input_tokens":10,"cache_read_input_tokens":0,"cache_creation_input_tokens":0,"output_tokens":5,"iterations":[` +
		`{"type":"compaction","input_tokens":50000,"cache_read_input_tokens":20000,"cache_creation_input_tokens":0,"output_tokens":900},` +
		`{"type":"message","input_tokens":10,"cache_read_input_tokens":0,"cache_creation_input_tokens":3000,"output_tokens":5}]}`
	for kind, answer := range map[string]string{
		"application/json":  `{"id":"m","type":"message","content":[],` + usage + `}`,
		"text/event-stream": "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":10,\"output_tokens\":1}}}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{}," + usage + "}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
	} {
		p := newProvider(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, answer)
		})
		px := newProxy(t, pruningOn, anthropicOnly(p))
		if got := px.do(t, http.MethodPost, "/v1/messages", claudeTalk(1, true, partOf)); got.body != answer {
			t.Errorf("%s: the answer was changed: %s", kind, got.body)
		}
		px.running.Wait()
		if n := len(px.told.settled); n != 1 {
			t.Fatalf("%s: %d requests settled", kind, n)
		}
		if s := px.told.settled[0]; s.PromptTokens != 50000+20000+10+3000 || s.CachedTokens != 20000 {
			t.Errorf("%s: %d tokens, %d cached, want 73010, 20000", kind, s.PromptTokens, s.CachedTokens)
		}
	}
}

// A refused request has no usage and costs nothing, whatever its body says. Later requests are
// booked as if it had not been.
func TestARefusalHasNoUsage(t *testing.T) {
	refuse := true
	p := newProvider(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		if refuse {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long"},"usage":{"input_tokens":99999,"output_tokens":1}}`)
			return
		}
		_, _ = io.WriteString(w, answerTo(string(body)))
	})
	px := newProxy(t, pruningOn, anthropicOnly(p))
	if got := px.do(t, http.MethodPost, "/v1/messages", claudeTalk(1, true, partOf)); got.status != http.StatusBadRequest {
		t.Fatalf("answered %d", got.status)
	}
	px.running.Wait()
	if len(px.told.settled) != 0 {
		t.Errorf("a refusal was settled: %+v", px.told.settled)
	}
	cut := string(p.last(t).body)
	refuse = false
	px.do(t, http.MethodPost, "/v1/messages", claudeTalk(1, true, partOf))
	px.running.Wait()
	if again := string(p.last(t).body); again != cut {
		t.Error("the second try went out in another form")
	}
	if len(px.told.settled) != 1 || px.told.settled[0].PromptTokens != int64(len(cut)/4) {
		t.Errorf("settled %+v, want the second request alone", px.told.settled)
	}
}

// A result that the client has shortened saves at most the text that the client would have sent.
// The tool's original output does not count.
func TestSavingsAreOfWhatTheClientWouldHaveSent(t *testing.T) {
	p := openAIProvider(t)
	px := newProxy(t, func(o *proxy.Options) {
		pruningOn(o)
		o.Providers["openai"] = proxy.Provider{BaseURL: p.URL + "/v1", Prices: &bill.Prices{Input: 1}}
	}, nil)
	half := bigText(100)
	body := codexTalk(1, func(int) string {
		return "Chunk ID: a1\nWall time: 1.2500 seconds\nProcess exited with code 0\nOutput:\nWarning: truncated output (original token count: 900000)\n" +
			half + "…890000 tokens truncated…\n" + half
	})
	px.do(t, http.MethodPost, "/v1/responses", body)
	px.running.Wait()
	sent := len(p.last(t).body)
	spent, through := px.told.dollars()
	if sent == len(body) || through <= spent {
		t.Fatalf("nothing was saved: %d of %d bytes, %v of %v dollars", sent, len(body), spent, through)
	}
	// The provider counts four bytes per token.
	if most := float64(len(body)) / 4 / 1e6 * 1.5; through > most {
		t.Errorf("passing through would have cost %v dollars, but the client sent no more than for %v", through, most)
	}
}

// Masks made before a model with bound thinking starts to think are not evicted with other records.
func TestMasksBeforeThinkingAreKeptSafe(t *testing.T) {
	const room = 1 << 20
	kept, err := records.OpenFile(records.FileOptions{Dir: t.TempDir(), MaxBytes: room, TTL: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	p := anthropicProvider(t)
	start := func() *proxied {
		return newProxy(t, func(o *proxy.Options) {
			o.Masking, o.Records = masking("priced"), kept
			o.Masking.WindowTurns = 2
			o.Providers["anthropic"] = proxy.Provider{BaseURL: p.URL + "/v1", Prices: &bill.Prices{Input: 1}}
		}, nil)
	}
	px := start()
	// Without a mark nothing is cached, and every removed token pays off at once.
	body := strings.ReplaceAll(claudeTalk(10, false, partOf), `,"cache_control":{"type":"ephemeral"}`, "")
	got := px.do(t, http.MethodPost, "/v1/messages", body)
	px.running.Wait()
	sent := string(p.last(t).body)
	if got.header.Get("X-Secateur-Masked") == "0" {
		t.Fatal("nothing was masked")
	}
	for i := range 2 * room / 3000 { // of other conversations
		if err := kept.Put(t.Context(), fmt.Sprint("other", i), make([]byte, 3000)); err != nil {
			t.Fatal(err)
		}
	}
	next := strings.TrimSuffix(body, "]}") + `,{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"s"},{"type":"tool_use","id":"toolu_x","name":"Bash","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_x","content":"ok"}]}]}`
	start().do(t, http.MethodPost, "/v1/messages", next)
	if again := string(p.last(t).body); !strings.HasPrefix(again, strings.TrimSuffix(sent, "]}")) {
		t.Errorf("what was masked went out whole: %d bytes, then %d", len(sent), len(again))
	}
}

// A request with only new messages is booked by the provider's count. Its cuts would have been sent
// once.
func TestAPartOfAConversationIsBooked(t *testing.T) {
	cached := 0.1
	for path, body := range map[string]string{
		"/v1/responses": `{"model":"gpt-5.6-sol","previous_response_id":"resp_1","input":[{"type":"function_call_output","call_id":"c","output":` + quoted(partOf(1)) + `}]}`,
		"/v1/messages":  `{"model":"claude-opus-5-5","thread":{"type":"continue","previous_message_id":"m"},"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":` + quoted(partOf(1)) + `}]}]}`,
	} {
		p := newProvider(t, jsonAnswer(`{"id":"x","usage":{"input_tokens":50000,"input_tokens_details":{"cached_tokens":40000},"output_tokens":1}}`))
		px := newProxy(t, func(o *proxy.Options) {
			pruningOn(o)
			for _, name := range []string{"openai", "anthropic"} {
				o.Providers[name] = proxy.Provider{BaseURL: p.URL + "/v1", Prices: &bill.Prices{Input: 1, CachedInput: &cached}}
			}
		}, nil)
		got := px.do(t, http.MethodPost, path, body)
		px.running.Wait()
		spent, through := px.told.dollars()
		if want := (10000 + 4000) / 1e6; path == "/v1/responses" && math.Abs(spent-want) > 1e-9 {
			t.Errorf("%s: spent %v dollars, want %v", path, spent, want)
		}
		cut := float64(len(body)-len(p.last(t).body)) / 1e6 // in bytes; a token has several
		if saved := through - spent; spent <= 0 || saved < cut/6 || saved > cut {
			t.Errorf("%s: spent %v dollars, saved %v of %v bytes", path, spent, saved, cut)
		}
		if ratio := got.header.Get("X-Secateur-Bill-Ratio"); ratio >= "1" {
			t.Errorf("%s: X-Secateur-Bill-Ratio %s", path, ratio)
		}
	}
}
