package pruner_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"secateur/internal/prune/pruner"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Real clients of every revision connect over HTTP and over a pipe, and use the tools.
func TestSDKClients(t *testing.T) {
	transports := map[string]func(t *testing.T, s *pruner.Server) mcp.Transport{
		"http": func(t *testing.T, s *pruner.Server) mcp.Transport {
			t.Helper()
			client := &http.Client{Transport: &http.Transport{}}
			t.Cleanup(client.CloseIdleConnections)
			return &mcp.StreamableClientTransport{Endpoint: serveHTTP(t, s) + "/rpc", HTTPClient: client}
		},
		"stdio": func(t *testing.T, s *pruner.Server) mcp.Transport {
			t.Helper()
			inRead, in := io.Pipe()
			outRead, out := io.Pipe()
			done := make(chan error, 1)
			go func() { done <- s.ServeStdio(context.WithoutCancel(t.Context()), inRead, out) }()
			t.Cleanup(func() {
				in.Close()
				if err := <-done; err != nil {
					t.Errorf("ServeStdio: %v", err)
				}
				out.Close()
			})
			return &mcp.IOTransport{Reader: outRead, Writer: in}
		},
	}
	for name, transport := range transports {
		for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", ""} {
			t.Run(name+" "+version, func(t *testing.T) {
				s := newServer(t, nil)
				client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
				session, err := client.Connect(t.Context(), transport(t, s), &mcp.ClientSessionOptions{ProtocolVersion: version})
				if err != nil {
					t.Fatalf("Connect: %v", err)
				}
				defer session.Close()
				talk(t, session, version)
			})
		}
	}
}

// talk exercises what a client does.
func talk(t *testing.T, session *mcp.ClientSession, version string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if version == "" {
		version = "2026-07-28"
	}
	if got := session.InitializeResult(); got == nil || got.ServerInfo.Name != "mcp-pruner" || got.ProtocolVersion != version || got.Instructions == "" {
		t.Fatalf("handshake: %+v", got)
	}
	tools, err := session.ListTools(ctx, nil)
	if err != nil || len(tools.Tools) != 5 {
		t.Fatalf("ListTools: %+v, %v", tools, err)
	}
	text := numbered(400)
	var p pruned
	structured(ctx, t, session, "prune_text", map[string]any{
		"text": text, "goal_hint": "line 333", "source_type": "logs",
		"options": map[string]any{"max_prune_ratio": 0.8, "min_keep_lines": 5, "timeout_ms": 5000, "annotate_lines": true, "include_markers": true},
	}, &p)
	if len(p.Annotations) == 0 || !strings.Contains(p.PrunedText, p.Annotations[0].Marker) {
		t.Fatalf("prune_text: %+v", p)
	}
	var r recovery
	structured(ctx, t, session, "recover_text", map[string]any{
		"prune_id": p.PruneID, "ranges": []map[string]any{{"start_line": 1, "end_line": 400}}, "include_line_numbers": false,
	}, &r)
	if r.RawText != text {
		t.Errorf("recover_text: %.100q", r.RawText)
	}
	_, err = session.CallTool(ctx, &mcp.CallToolParams{Name: "recover_text", Arguments: map[string]any{
		"prune_id": "prn_x", "ranges": []map[string]any{{"start_line": 1, "end_line": 4}}, "include_line_numbers": false,
	}})
	// This SDK gives the code another meaning, so check the word.
	if err == nil || !strings.Contains(err.Error(), "prune_id_not_found") {
		t.Errorf("recover_text of an unknown id: %v", err)
	}
	_, err = session.CallTool(ctx, &mcp.CallToolParams{Name: "prune_text", Arguments: map[string]any{"text": 1}})
	if e, ok := errors.AsType[*jsonrpc.Error](err); !ok || e.Code != -32602 {
		t.Errorf("prune_text without arguments: %v", err)
	}
	if res, err := session.ListResources(ctx, nil); err != nil || len(res.Resources) != 0 {
		t.Errorf("ListResources: %v", err)
	}
	if res, err := session.ListPrompts(ctx, nil); err != nil || len(res.Prompts) != 0 {
		t.Errorf("ListPrompts: %v", err)
	}
}

func structured(ctx context.Context, t *testing.T, session *mcp.ClientSession, tool string, arguments, v any) {
	t.Helper()
	res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil || res.IsError || len(res.Content) != 1 {
		t.Fatalf("%s: %+v, %v", tool, res, err)
	}
	content, ok := res.Content[0].(*mcp.TextContent)
	if !ok {
		t.Fatalf("%s: content %T", tool, res.Content[0])
	}
	if err := json.Unmarshal([]byte(content.Text), v); err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
}

// lack skips on a developer's machine and fails in CI.
func lack(t *testing.T, reason string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(reason)
	}
	t.Skip(reason)
}

// Most agents are built on this client.
func TestTypeScriptClient(t *testing.T) {
	modules, err := filepath.Abs("../../../test/npm/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		lack(t, "node is not installed; make test installs it")
	}
	if _, err := os.Stat(filepath.Join(modules, "@modelcontextprotocol/sdk")); err != nil {
		lack(t, "the npm packages are not installed; make test installs them")
	}
	dir := t.TempDir()
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(dir, "client.mjs")
	if err := os.WriteFile(script, []byte(typeScriptClient), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), node, script, serveHTTP(t, newServer(t, nil))+"/rpc")
	out, err := cmd.CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "mcp-pruner 5 tools, 3 lines cut, true -32004" {
		t.Errorf("client: %v\n%s", err, out)
	}
}

const typeScriptClient = `
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
const client = new Client({ name: "test", version: "1" });
await client.connect(new StreamableHTTPClientTransport(new URL(process.argv[2])));
const { tools } = await client.listTools();
const text = ["L1", "L2", "L3", "L4"].map((l) => l + " and a sentence that is longer than what stands in its place".repeat(3)).join("\n");
const pruned = await client.callTool({ name: "prune_text", arguments: {
  text, goal_hint: "garder L1", source_type: "docs",
  options: { max_prune_ratio: 0.75, min_keep_lines: 1, timeout_ms: 1500, annotate_lines: true, include_markers: true } } });
const { prune_id, stats } = JSON.parse(pruned.content[0].text);
const back = await client.callTool({ name: "recover_text", arguments: {
  prune_id, ranges: [{ start_line: 1, end_line: 50 }], include_line_numbers: false } });
const unknown = await client.callTool({ name: "recover_text", arguments: {
  prune_id: "prn_x", ranges: [{ start_line: 1, end_line: 50 }], include_line_numbers: false } }).catch(e => e.code);
console.log(client.getServerVersion().name, tools.length, "tools,", stats.pruned_lines, "lines cut,",
  back.structuredContent.raw_text === text, unknown);
await client.close();
`
