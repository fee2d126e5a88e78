package pruner_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"secateur/internal/mcp/wire"
	"secateur/internal/prune/pruner"
	"secateur/internal/store/originals"

	"go.uber.org/goleak"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// noon is the time in every test with a fixed clock.
var noon = time.Date(2026, 2, 26, 13, 0, 0, 0, time.FixedZone("CET", 3600))

// newServer returns a pruner with a memory store and a fixed clock; change may be nil.
func newServer(tb testing.TB, change func(*pruner.Options)) *pruner.Server {
	tb.Helper()
	opt := pruner.Options{
		Settings:  pruner.Default(),
		Originals: &originals.Memory{},
		Version:   "v9.9",
		Now:       func() time.Time { return noon },
	}
	if change != nil {
		change(&opt)
	}
	s, err := pruner.New(opt)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// ask sends a message and returns the response, which must be JSON-RPC with the same id.
func ask(tb testing.TB, s *pruner.Server, request string) wire.Message {
	tb.Helper()
	msg, bad := wire.ParseRequest([]byte(request), wire.MaxRequestDepth)
	if bad != nil {
		tb.Fatalf("request %.200s: %v", request, bad)
	}
	out := s.Serve(tb.Context(), &msg)
	answer, err := wire.ParseServer(out, 0)
	if err != nil || !answer.ID.Same(msg.ID) {
		tb.Fatalf("answer to %.200s: %v\n%.500s", request, err, out)
	}
	return answer
}

// call calls a tool.
func call(tb testing.TB, s *pruner.Server, tool, arguments string) wire.Message {
	tb.Helper()
	return ask(tb, s, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":`+arguments+`}}`)
}

// result decodes a tool's result into v and checks that text and structured content agree.
func result(tb testing.TB, answer wire.Message, v any) {
	tb.Helper()
	var r struct {
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		StructuredContent json.RawMessage `json:"structuredContent"`
	}
	if answer.Error != nil {
		tb.Fatalf("the tool failed: %s", answer.Error)
	}
	if err := json.Unmarshal(answer.Result, &r); err != nil || len(r.Content) != 1 || r.Content[0].Type != "text" {
		tb.Fatalf("result %.300s: %v", answer.Result, err)
	}
	if !sameJSON(tb, r.Content[0].Text, string(r.StructuredContent)) {
		tb.Fatalf("content[0].text and structuredContent differ:\n%.500s\n%.500s", r.Content[0].Text, r.StructuredContent)
	}
	if err := json.Unmarshal(r.StructuredContent, v); err != nil {
		tb.Fatalf("structuredContent %.300s: %v", r.StructuredContent, err)
	}
}

func sameJSON(tb testing.TB, a, b string) bool {
	tb.Helper()
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	return fmt.Sprint(x) == fmt.Sprint(y)
}

// pruned is the response of prune_text.
type pruned struct {
	PruneID     string `json:"prune_id"`
	PrunedText  string `json:"pruned_text"`
	Annotations []struct {
		Kind   string `json:"kind"`
		Start  int    `json:"original_start_line"`
		End    int    `json:"original_end_line"`
		Count  int    `json:"pruned_line_count"`
		Reason string `json:"reason"`
		Marker string `json:"marker"`
	} `json:"annotations"`
	Stats    map[string]any `json:"stats"`
	Warnings []string       `json:"warnings"`
}

func (p pruned) stat(name string) int {
	f, _ := p.Stats[name].(float64)
	return int(f)
}

// asked are the arguments of prune_text.
type asked struct {
	text, goal, source string
	ratio              float64
	minKeep            int
	timeout            int
	annotate, markers  bool
}

func (a asked) json() string {
	text, _ := json.Marshal(a.text)
	goal, _ := json.Marshal(a.goal)
	if a.source == "" {
		a.source = "docs"
	}
	if a.timeout == 0 {
		a.timeout = 1500
	}
	return fmt.Sprintf(`{"text":%s,"goal_hint":%s,"source_type":%q,"options":{"max_prune_ratio":%s,"min_keep_lines":%d,"timeout_ms":%d,"annotate_lines":%t,"include_markers":%t}}`,
		text, goal, a.source, strconv.FormatFloat(a.ratio, 'g', -1, 64), a.minKeep, a.timeout, a.annotate, a.markers)
}

func pruneText(tb testing.TB, s *pruner.Server, a asked) (p pruned) {
	tb.Helper()
	result(tb, call(tb, s, "prune_text", a.json()), &p)
	return p
}

// numbered is a text of lines "line 1", "line 2", …
func numbered(lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

// recovery is the response of recover_text.
type recovery struct {
	RawText  string `json:"raw_text"`
	Metadata struct {
		PruneID string `json:"prune_id"`
		Ranges  []struct {
			Start int `json:"start_line"`
			End   int `json:"end_line"`
		} `json:"ranges"`
		LineNumbering string `json:"line_numbering"`
	} `json:"metadata"`
}

// failure is a JSON-RPC error.
type failure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    struct {
		Code       string `json:"code"`
		Path       string `json:"path"`
		Hint       string `json:"hint"`
		PruneID    string `json:"prune_id"`
		TotalLines *int   `json:"total_lines"`
		TotalChars *int   `json:"total_chars"`
		Errors     []struct {
			Path    string `json:"path"`
			Message string `json:"message"`
		} `json:"errors"`
	} `json:"data"`
}

func failed(tb testing.TB, answer wire.Message) (f failure) {
	tb.Helper()
	if answer.Error == nil {
		tb.Fatalf("no error but %.300s", answer.Result)
	}
	if err := json.Unmarshal(answer.Error, &f); err != nil {
		tb.Fatal(err)
	}
	return f
}
