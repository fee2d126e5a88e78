package test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestResultsOfRealServersArePrunedAndRestored has npm's servers answer a client of the Go SDK: long results are pruned for the goal of
// their call, JSON stays JSON, and the pruner's tools give all of it back through the same connection.
func TestResultsOfRealServersArePrunedAndRestored(t *testing.T) {
	config, dir := filesAndMemory(t)
	config = strings.Replace(config, "id = \"files\"\n", "id = \"files\"\nfocus = true\n", 1)
	var log strings.Builder
	for i := range 900 {
		fmt.Fprintf(&log, "note %d: shipment %d left the harbour of port%d\n", i, i*7919, i%90)
	}
	if err := os.WriteFile(filepath.Join(dir, "harbour.txt"), []byte(log.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range 400 {
		sub := filepath.Join(dir, "archive", fmt.Sprintf("year%d", 1900+i%40))
		if err := os.MkdirAll(sub, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(sub, fmt.Sprintf("ledger_%d.csv", i*31)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var entities []map[string]any
	for i := range 300 {
		entities = append(entities, map[string]any{
			"name": fmt.Sprintf("ship_%d", i), "entityType": "ship", "observations": []string{fmt.Sprintf("has %d masts and sails under captain %d", i%4+1, i*37)},
		})
	}
	transports := map[string]func(t *testing.T) mcp.Transport{
		"http": func(t *testing.T) mcp.Transport {
			t.Helper()
			p := start(t, config)
			return &mcp.StreamableClientTransport{Endpoint: p.url + "/mcp", HTTPClient: p.http}
		},
		"stdio": func(t *testing.T) mcp.Transport {
			t.Helper()
			return &mcp.CommandTransport{Command: exec.Command(secateur(t), "stdio", "--config", configFile(t, patient(config)))}
		},
	}
	for name, transport := range transports {
		t.Run(name, func(t *testing.T) {
			c := &prunedClient{T: t}
			c.connect(transport(t))
			c.call("memory::create_entities", map[string]any{"entities": entities})
			for _, call := range []struct {
				tool, want string
				arguments  map[string]any
				isJSON     bool
			}{
				{"files::read_text_file", "⟦PRUNED lines ", map[string]any{"path": filepath.Join(dir, "harbour.txt"), "secateur_focus": "shipment 5495786"}, false},
				{"files::directory_tree", "ledger_9300.csv", map[string]any{"path": dir, "secateur_focus": "ledger_9300.csv"}, true},
				{"memory::read_graph", "⟦PRUNED ", map[string]any{}, true},
			} {
				c.check(call.tool, call.arguments, call.want, call.isJSON)
			}
		})
	}
}

// prunedClient calls tools and looks at what was cut.
type prunedClient struct {
	*testing.T
	session *mcp.ClientSession
}

func (c *prunedClient) connect(transport mcp.Transport) {
	c.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "go", Version: "1"}, nil).Connect(c.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() { _ = session.Close() })
	c.session = session
}

// call returns a tool's text and what _meta says of cuts.
func (c *prunedClient) call(name string, arguments map[string]any) (string, []string) {
	c.Helper()
	r, err := c.session.CallTool(c.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil || r.IsError || len(r.Content) == 0 {
		c.Fatalf("%s: %v %+v", name, err, r)
	}
	text, ok := r.Content[0].(*mcp.TextContent)
	if !ok {
		c.Fatalf("%s: %T", name, r.Content[0])
	}
	var about struct {
		IDs []string `json:"ids"`
	}
	raw, _ := json.Marshal(r.Meta["secateur/cut"])
	_ = json.Unmarshal(raw, &about)
	return text.Text, about.IDs
}

// check calls a tool twice: the first answer is pruned, the second is whole, and the original of the first is the second.
func (c *prunedClient) check(tool string, arguments map[string]any, want string, isJSON bool) {
	c.Helper()
	pruned, ids := c.call(tool, arguments)
	whole, none := c.call(tool, arguments)
	if len(ids) != 1 || len(none) != 0 || len(pruned) > 7*len(whole)/10 {
		c.Fatalf("%s: %d of %d characters are left, originals %q, then %q", tool, len(pruned), len(whole), ids, none)
	}
	if !strings.Contains(pruned, want) || strings.Contains(pruned, "⟦PRUNED ") != strings.Contains(pruned, "id="+ids[0]) {
		c.Errorf("%s: no %q in %s", tool, want, pruned)
	}
	if isJSON && !json.Valid([]byte(pruned)) {
		c.Errorf("%s: what is left is not JSON: %s", tool, pruned)
	}
	lines := strings.Count(whole, "\n") + 1
	back, _ := c.call("pruner::recover_text", map[string]any{
		"prune_id": ids[0], "ranges": []map[string]any{{"start_line": 1, "end_line": lines}}, "include_line_numbers": false, "max_chars": 2_000_000,
	})
	var answer struct {
		Text string `json:"raw_text"`
	}
	if err := json.Unmarshal([]byte(back), &answer); err != nil || answer.Text != whole {
		c.Errorf("%s: the original is not given back: %v, %.300s", tool, err, back)
	}
}
