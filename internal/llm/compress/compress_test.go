package compress_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"secateur/internal/access"
	"secateur/internal/llm/chat"
	"secateur/internal/llm/compress"
	"secateur/internal/store/originals"
	"secateur/internal/store/records"
)

type door struct{ mux *http.ServeMux }

func open(change ...func(*compress.Server)) door {
	s := &compress.Server{
		Pruning: chat.DefaultPruning(), Originals: &originals.Memory{}, Index: &records.Memory{}, MaxBytes: 64 << 20, Log: slog.New(slog.DiscardHandler),
	}
	for _, c := range change {
		c(s)
	}
	mux := http.NewServeMux()
	who := &access.Principal{Subject: "gateway"}
	mux.HandleFunc(compress.Path, func(w http.ResponseWriter, r *http.Request) { s.Serve(w, r, who) })
	mux.HandleFunc(compress.RetrievePath+"{hash}", func(w http.ResponseWriter, r *http.Request) {
		p := *who
		p.Tenant = r.Header.Get("Tenant")
		s.ServeRetrieve(w, r, &p)
	})
	return door{mux}
}

func (d door) do(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	d.mux.ServeHTTP(w, r)
	return w
}

// answer is what the door says.
type answer struct {
	Messages   []json.RawMessage `json:"messages"`
	Before     int               `json:"tokens_before"`
	After      int               `json:"tokens_after"`
	Saved      int               `json:"tokens_saved"`
	Ratio      float64           `json:"compression_ratio"`
	Transforms []string          `json:"transforms_applied"`
	Hashes     []string          `json:"ccr_hashes"`
}

func (d door) compress(tb testing.TB, messages []json.RawMessage, config string) answer {
	tb.Helper()
	body := slices.Concat([]byte(`{"model":"gpt-5","messages":[`), bytes.Join(asBytes(messages), []byte(",")), []byte("]"+config+"}"))
	w := d.do(httptest.NewRequest(http.MethodPost, compress.Path, bytes.NewReader(body)))
	var a answer
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil || w.Code != http.StatusOK {
		tb.Fatalf("%d %v: %.300s", w.Code, err, w.Body)
	}
	return a
}

// asBytes are messages byte for byte: encoding/json would write some characters in another way.
func asBytes(messages []json.RawMessage) (out [][]byte) {
	for _, m := range messages {
		out = append(out, m)
	}
	return out
}

func (d door) retrieve(hash, query string) (map[string]any, int) {
	w := d.do(httptest.NewRequest(http.MethodGet, compress.RetrievePath+hash+"?query="+query, nil))
	var out map[string]any
	_ = json.Unmarshal(w.Body.Bytes(), &out)
	return out, w.Code
}

func buildLog(seed, n int) string {
	var b strings.Builder
	for line := range n {
		if line == n/2 {
			fmt.Fprintf(&b, "src/parser_%d.go:41: undefined: tokenTable\n", seed)
			continue
		}
		fmt.Fprintf(&b, "2026-03-01 10:%02d:%02d INFO step %d of run %d: compiled package_%d in %d ms\n", line/60%60, line%60, line, seed, line*7%83, line*31%997)
	}
	return b.String()
}

func raw(tb testing.TB, v any) json.RawMessage {
	tb.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

type object = map[string]any

// lines is how many a log has; some stay long when they are pruned.
func lines(n int) int {
	if n%6 == 5 {
		return 1000
	}
	return 60 + n%4*60
}

// session is a conversation in chat completions: a task, and so many turns of a call and its result; some calls are made twice.
func session(tb testing.TB, turns int) (messages []json.RawMessage) {
	tb.Helper()
	messages = append(messages, raw(tb, object{"role": "system", "content": "You fix builds."}), raw(tb, object{"role": "user", "content": "Why does the build fail?"}))
	for i := range turns {
		n := i
		if i%5 == 4 {
			n = i - 2
		}
		messages = append(messages, raw(tb, object{"role": "assistant", "content": "I look for tokenTable.", "tool_calls": []any{object{
			"id": fmt.Sprint("call_", i), "type": "function", "function": object{"name": "bash", "arguments": fmt.Sprintf(`{"command":"cat build-%d.log"}`, n)},
		}}}), raw(tb, object{"role": "tool", "tool_call_id": fmt.Sprint("call_", i), "content": buildLog(n, lines(n))}))
		if i%7 == 6 {
			messages = append(messages, raw(tb, object{"role": "user", "content": "Go on."}))
		}
	}
	return messages
}

// anthropic is the same in Messages.
func anthropic(tb testing.TB, turns int) (messages []json.RawMessage) {
	tb.Helper()
	messages = append(messages, raw(tb, object{"role": "user", "content": "Why does the build fail?"}))
	for i := range turns {
		id := fmt.Sprint("toolu_", i)
		messages = append(messages,
			raw(tb, object{"role": "assistant", "content": []any{object{"type": "text", "text": "I look."}, object{"type": "tool_use", "id": id, "name": "bash", "input": object{"command": fmt.Sprintf("cat build-%d.log", i)}}}}),
			raw(tb, object{"role": "user", "content": []any{object{"type": "tool_result", "tool_use_id": id, "content": []any{object{"type": "text", "text": buildLog(i, 200)}}}}}))
	}
	return messages
}

// responses is the same in Responses.
func responses(tb testing.TB, turns int) (items []json.RawMessage) {
	tb.Helper()
	items = append(items, raw(tb, object{"role": "user", "content": "Why does the build fail?"}))
	for i := range turns {
		id := fmt.Sprint("call_", i)
		items = append(items, raw(tb, object{"type": "function_call", "call_id": id, "name": "bash", "arguments": fmt.Sprintf(`{"command":"cat build-%d.log"}`, i)}),
			raw(tb, object{"type": "function_call_output", "call_id": id, "output": buildLog(i, 200)}))
	}
	return items
}

// recorded are sessions that agents have had, where EVALDATA says where they are.
func recorded(tb testing.TB) (all [][]json.RawMessage) {
	tb.Helper()
	files, _ := filepath.Glob(filepath.Join(os.Getenv("EVALDATA"), "sessions", "*.jsonl.gz"))
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			tb.Fatal(err)
		}
		packed, err := gzip.NewReader(f)
		if err != nil {
			tb.Fatal(err)
		}
		for d := json.NewDecoder(packed); d.More(); {
			var s struct {
				Messages []json.RawMessage `json:"messages"`
			}
			if err := d.Decode(&s); err != nil {
				tb.Fatal(err)
			}
			all = append(all, s.Messages)
		}
		_ = f.Close()
	}
	return all
}

// The answer for n messages begins the answer for n + 1, so that a provider's cache holds; roles, rows and calls are the same; what was
// compressed once stays as it is.
func TestTheAnswerForFewerMessagesBeginsTheAnswerForMore(t *testing.T) {
	sessions := [][]json.RawMessage{session(t, 30), anthropic(t, 12), responses(t, 12)}
	sessions = append(sessions, recorded(t)...)
	for number, all := range sessions {
		d := open()
		step := max(1, len(all)/6)
		var before []json.RawMessage
		cuts := 0
		for n := step; n <= len(all); n += step {
			a := d.compress(t, all[:n], "")
			if len(a.Messages) != n {
				t.Fatalf("session %d: %d rows became %d", number, n, len(a.Messages))
			}
			for i := range before {
				if !bytes.Equal(before[i], a.Messages[i]) {
					t.Fatalf("session %d: row %d of %d changed:\n%.300s\n%.300s", number, i, n, before[i], a.Messages[i])
				}
			}
			if again := d.compress(t, a.Messages, ""); !slices.EqualFunc(again.Messages, a.Messages, func(x, y json.RawMessage) bool { return bytes.Equal(x, y) }) {
				t.Fatalf("session %d: compressing twice differs at %d rows", number, n)
			}
			mixed := d.compress(t, slices.Concat(a.Messages, all[n:]), "") // of a caller that keeps what it got
			if whole := d.compress(t, all, ""); !slices.EqualFunc(mixed.Messages, whole.Messages, func(x, y json.RawMessage) bool { return bytes.Equal(x, y) }) {
				t.Fatalf("session %d: it differs for a caller that keeps the first %d rows", number, n)
			}
			before, cuts = a.Messages, len(a.Hashes)
		}
		for i := range before {
			if m, was := decode(t, before[i]), decode(t, all[i]); !reflect.DeepEqual(without(m), without(was)) {
				t.Errorf("session %d: row %d is another: %.300s", number, i, before[i])
			}
		}
		if number < 3 && cuts < 5 {
			t.Errorf("session %d: %d results were cut", number, cuts)
		}
	}
}

func decode(t *testing.T, b []byte) (m object) {
	t.Helper()
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// without is a row less the texts of results.
func without(m object) object {
	if m["role"] == "tool" {
		delete(m, "content")
	}
	delete(m, "output")
	if blocks, ok := m["content"].([]any); ok {
		for _, b := range blocks {
			if block, ok := b.(object); ok && block["type"] == "tool_result" {
				delete(block, "content")
			}
		}
	}
	return m
}

// litellm behaves as its guardrail does: it sends model and messages alone, holds back system rows and the last user and assistant rows with
// their results, flattens lists of texts, wants as many rows with the same roles back, and finds hashes in texts.
func litellm(t *testing.T, d door, all []json.RawMessage) (sent []json.RawMessage, hashes []string) {
	t.Helper()
	lastUser, lastAssistant := -1, -1
	for i, m := range all {
		switch decode(t, m)["role"] {
		case "user":
			lastUser = i
		case "assistant":
			lastAssistant = i
		}
	}
	rows := []json.RawMessage{}
	var places []int
	for i, m := range all {
		role := decode(t, m)["role"]
		if role == "system" || i == lastUser || i == lastAssistant || role == "tool" && i > lastAssistant {
			continue
		}
		rows, places = append(rows, m), append(places, i)
	}
	a := d.compress(t, rows, "")
	if len(a.Messages) != len(rows) || a.Before < a.After || a.Ratio < 0 || a.Ratio > 1 {
		t.Fatalf("the guardrail refuses %d rows for %d, %d tokens for %d", len(a.Messages), len(rows), a.After, a.Before)
	}
	sent = slices.Clone(all)
	for i, m := range a.Messages {
		if decode(t, m)["role"] != decode(t, rows[i])["role"] {
			t.Fatalf("the guardrail refuses row %d: another role", i)
		}
		sent[places[i]] = m
		for _, found := range regexp.MustCompile(`hash=([a-f0-9]{24})`).FindAllSubmatch(m, -1) {
			hashes = append(hashes, string(found[1]))
		}
	}
	return sent, hashes
}

func TestAGuardrailThatHoldsRowsBackKeepsTheCache(t *testing.T) {
	d := open()
	all := session(t, 20)
	var before []json.RawMessage
	for n := 4; n <= len(all); n++ {
		sent, hashes := litellm(t, d, all[:n])
		for i := range before { // rows are compressed once they are no longer held back, and stay so
			if !bytes.Equal(before[i], sent[i]) && !bytes.Equal(before[i], all[i]) {
				t.Fatalf("row %d of %d changed once more: %.300s", i, n, sent[i])
			}
		}
		before = sent
		if n == len(all) && len(hashes) < 5 {
			t.Errorf("%d hashes were found", len(hashes))
		}
		for _, h := range hashes { // the injected tool's loop
			if out, code := d.retrieve(h, ""); code != http.StatusOK || !strings.Contains(out["original_content"].(string), "step 1 of run") {
				t.Fatalf("%s: %d %v", h, code, out)
			}
		}
	}
}

// 9router posts whole histories with a count of rows that are frozen, and takes the messages as they come back.
func TestFrozenRowsStayAsTheyCame(t *testing.T) {
	d := open()
	all := session(t, 10)
	a := d.compress(t, all, `,"config":{"frozen_message_count":12,"protect_recent":4},"session_id":"s"`)
	for i := range 12 {
		if !bytes.Equal(a.Messages[i], all[i]) {
			t.Errorf("frozen row %d was changed", i)
		}
	}
	if len(a.Hashes) == 0 || !slices.Equal(a.Transforms, []string{"secateur:prune"}) || a.Saved != a.Before-a.After || a.Saved <= 0 {
		t.Errorf("%d hashes, %v, saved %d", len(a.Hashes), a.Transforms, a.Saved)
	}
}

func TestACallThatWasMadeBeforePassesWhole(t *testing.T) {
	all := session(t, 6)
	for i, m := range open().compress(t, all, "").Messages {
		text := fmt.Sprint(decode(t, m)["content"])
		if first, again := 2+2*2+1, 2+4*2+1; i == first && !strings.Contains(text, "⟦PRUNED") || i == again && !bytes.Equal(m, all[i]) {
			t.Errorf("row %d: %.200s", i, text)
		}
	}
}

func TestAQueryGivesTheLinesThatHaveItsWords(t *testing.T) {
	d := open()
	a := d.compress(t, session(t, 4), "")
	out, _ := d.retrieve(a.Hashes[0], "tokentable+undefined")
	if out["count"] != 1.0 || !strings.Contains(fmt.Sprint(out["results"]), "undefined: tokenTable") || out["original_content"] != out["results"].([]any)[0] {
		t.Errorf("%v", out)
	}
	if out, _ = d.retrieve(a.Hashes[0], "nothing-has-this"); !strings.Contains(out["original_content"].(string), "step 1 of run") {
		t.Errorf("%v", out)
	}
}

func TestAnotherTenantsOriginalIsNotFound(t *testing.T) {
	d := open()
	a := d.compress(t, session(t, 4), "")
	r := httptest.NewRequest(http.MethodGet, compress.RetrievePath+a.Hashes[0], nil)
	r.Header.Set("Tenant", "other")
	if w := d.do(r); w.Code != http.StatusNotFound {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if _, code := d.retrieve(strings.Repeat("0", 24), ""); code != http.StatusNotFound {
		t.Errorf("an unknown hash is %d", code)
	}
	if _, code := d.retrieve("etc", ""); code != http.StatusBadRequest {
		t.Errorf("no hash is %d", code)
	}
}

func TestRefusals(t *testing.T) {
	d := open(func(s *compress.Server) { s.MaxBytes = 1 << 20 })
	for body, want := range map[string]int{
		`{`:                    http.StatusBadRequest,
		`{"model":"x"}`:        http.StatusBadRequest,
		`{"messages":"hello"}`: http.StatusBadRequest,
		`{"messages":[],"config":{"frozen_message_count":-1}}`: http.StatusBadRequest,
		`{"messages":[],"config":{"target_ratio":3}}`:          http.StatusBadRequest,
		`{"messages":["` + strings.Repeat("x", 1<<20) + `"]}`:  http.StatusRequestEntityTooLarge,
		`{"messages":[]}`: http.StatusOK,
	} {
		w := d.do(httptest.NewRequest(http.MethodPost, compress.Path, strings.NewReader(body)))
		var e struct {
			Error struct {
				Type    string `json:"type"`
				Message string `json:"message"`
			} `json:"error"`
		}
		_ = json.Unmarshal(w.Body.Bytes(), &e)
		if w.Code != want || want != http.StatusOK && (e.Error.Type == "" || e.Error.Message == "") {
			t.Errorf("%.60s: %d %s", body, w.Code, w.Body)
		}
	}
	if w := d.do(httptest.NewRequest(http.MethodGet, compress.Path, nil)); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d", w.Code)
	}
	list, _ := json.Marshal(session(t, 5))
	r := httptest.NewRequest(http.MethodPost, compress.Path, strings.NewReader(`{"messages":`+string(list)+`}`))
	r.Header.Set("x-headroom-bypass", "true")
	if w := d.do(r); !bytes.HasPrefix(w.Body.Bytes(), append([]byte(`{"messages":`), list...)) {
		t.Errorf("bypassed: %.200s", w.Body)
	}
}

// BenchmarkHistory compresses a history of 744 KB of which the results but for the newest came before.
func BenchmarkHistory(b *testing.B) {
	var all []json.RawMessage
	size := 0
	for turns := 20; size < 744<<10; turns += 2 {
		all, size = session(b, turns), 0
		for _, m := range all {
			size += len(m)
		}
	}
	list, _ := json.Marshal(all)
	body := `{"model":"gpt-5","messages":` + string(list) + `}`
	b.SetBytes(int64(len(body)))
	d := open() // results that came before are known, as with every turn but the first
	for b.Loop() {
		if w := d.do(httptest.NewRequest(http.MethodPost, compress.Path, strings.NewReader(body))); w.Code != http.StatusOK {
			b.Fatal(w.Body)
		}
	}
}
