//nolint:staticcheck // roots, sampling and logging are deprecated in the newest revision, and relayed all the same
package test

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Go SDK client of each era calls servers of each era, and is asked by them: all four
// combinations.
func TestGoClient(t *testing.T) {
	config, dir := threeServers(t)
	config += modernServer(t) + peerConfig(t, "peer", "plain")
	file := configFile(t, patient(config))
	for _, version := range []string{"2024-11-05", "2025-06-18", "2025-11-25", modern} {
		t.Run(version+" Streamable HTTP", func(t *testing.T) {
			p := start(t, config)
			goClient(t, version, &mcp.StreamableClientTransport{Endpoint: p.url + "/mcp", HTTPClient: p.http}, dir)
		})
	}
	for _, version := range []string{"2025-11-25", modern} {
		t.Run(version+" stdio", func(t *testing.T) {
			goClient(t, version, &mcp.CommandTransport{Command: exec.Command(secateur(t), "stdio", "--config", file)}, dir)
		})
	}
}

func goClient(t *testing.T, version string, transport mcp.Transport, dir string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	progress, changed := make(chan string, 100), make(chan struct{}, 100)
	client := mcp.NewClient(&mcp.Implementation{Name: "go", Version: "1"}, &mcp.ClientOptions{
		CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Role: "assistant", Model: "m", Content: &mcp.TextContent{Text: "sampled"}}, nil
		},
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada", "color": "green"}}, nil
		},
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			if token, ok := r.Params.ProgressToken.(string); ok {
				progress <- token
			}
		},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
	})
	client.AddRoots(&mcp.Root{URI: "file://" + dir, Name: "the test's"})
	session, err := client.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if got := session.InitializeResult().ProtocolVersion; got != version {
		t.Errorf("the revision is %s, want %s", got, version)
	}
	names := map[string]bool{}
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			t.Fatal(err)
		}
		names[tool.Name] = true
	}
	for _, name := range []string{"everything::echo", "everything::trigger-sampling-request", "files::read_text_file", "memory::read_graph", "modern::test_simple_text", "pruner::recover_text"} {
		if !names[name] {
			t.Errorf("%s is not listed", name)
		}
	}
	call := func(name string, arguments map[string]any) string {
		t.Helper()
		params := &mcp.CallToolParams{Name: name, Arguments: arguments}
		params.SetProgressToken(name)
		r, err := session.CallTool(ctx, params)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return ""
		}
		var all []string
		for _, c := range r.Content {
			if text, ok := c.(*mcp.TextContent); ok {
				all = append(all, text.Text)
			}
		}
		return strings.Join(all, "\n")
	}
	for _, tc := range []struct {
		tool      string
		arguments map[string]any
		want      string
	}{
		{"everything::echo", map[string]any{"message": "Grüße 🌿"}, "Echo: Grüße 🌿"},
		{"files::read_text_file", map[string]any{"path": dir + "/note.txt"}, "a line to be read"},
		{"everything::trigger-sampling-request", map[string]any{"prompt": "hi"}, "sampled"},
		{"everything::trigger-elicitation-request", map[string]any{}, "Name: Ada"},
		{"peer::ask", map[string]any{}, "the test's"},
		{"modern::test_input_required_result_elicitation", map[string]any{}, "Hello, Ada!"},
		{"modern::test_input_required_result_sampling", map[string]any{}, "sampled"},
		{"modern::test_input_required_result_list_roots", map[string]any{}, "file://"},
		{"modern::test_input_required_result_multi_round", map[string]any{}, "green"},
		{"modern::test_tool_with_progress", map[string]any{}, ""},
		{"everything::trigger-long-running-operation", map[string]any{"duration": 0.2, "steps": 2}, "completed"},
	} {
		if got := call(tc.tool, tc.arguments); !strings.Contains(got, tc.want) {
			t.Errorf("%s: %q, want %q in it", tc.tool, got, tc.want)
		}
	}
	seen := map[string]int{}
	for range 3 + 2 { // they are handled beside the answers
		select {
		case token := <-progress:
			seen[token]++
		case <-time.After(30 * time.Second):
		}
	}
	if seen["modern::test_tool_with_progress"] != 3 || seen["everything::trigger-long-running-operation"] != 2 {
		t.Errorf("progress by token: %v", seen)
	}
	goClientReads(ctx, t, session)
	call("modern::test_trigger_tool_change", map[string]any{})
	select {
	case <-changed:
	case <-time.After(time.Minute):
		t.Error("no notification of the changed list")
	}
}

func goClientReads(ctx context.Context, t *testing.T, session *mcp.ClientSession) {
	t.Helper()
	for _, r := range []struct{ server, uri, text string }{
		{"everything", "demo://resource/static/document/features.md", "# Everything Server - Features"},
		{"modern", "test://static-text", "static text resource"},
	} {
		uri := proxied(r.server, r.uri)
		read, err := session.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
		if err != nil {
			t.Errorf("%s: %v", r.uri, err)
		} else if len(read.Contents) != 1 || read.Contents[0].URI != uri || !strings.Contains(read.Contents[0].Text, r.text) {
			t.Errorf("%s: %+v", r.uri, read.Contents)
		}
	}
	for name, arguments := range map[string]map[string]string{
		"everything::args-prompt":            {"city": "Paris"},
		"modern::test_prompt_with_arguments": {"arg1": "Paris", "arg2": "x"},
	} {
		prompt, err := session.GetPrompt(ctx, &mcp.GetPromptParams{Name: name, Arguments: arguments})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if text, ok := prompt.Messages[0].Content.(*mcp.TextContent); !ok || !strings.Contains(text.Text, "Paris") {
			t.Errorf("%s: %+v", name, prompt.Messages[0].Content)
		}
	}
	done, err := session.Complete(ctx, &mcp.CompleteParams{
		Ref:      &mcp.CompleteReference{Type: "ref/prompt", Name: "everything::completable-prompt"},
		Argument: mcp.CompleteParamsArgument{Name: "department", Value: "S"},
	})
	if err != nil || strings.Join(done.Completion.Values, ",") != "Sales,Support" {
		t.Errorf("completion: %+v, %v", done, err)
	}
}
