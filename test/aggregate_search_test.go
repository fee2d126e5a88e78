package test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Clients made with the Go SDK, of both eras, find tools that are not listed, call them, and are asked by them.
func TestGoClientFindsTools(t *testing.T) {
	config, dir := threeServers(t)
	config += modernServer(t)
	for _, version := range []string{"2025-11-25", modern} {
		t.Run(version, func(t *testing.T) {
			p := start(t, config)
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			progress := make(chan struct{}, 100)
			client := mcp.NewClient(&mcp.Implementation{Name: "go", Version: "1"}, &mcp.ClientOptions{
				ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada", "color": "green"}}, nil
				},
				ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) { progress <- struct{}{} },
			})
			session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: p.url + "/mcp?tools=search", HTTPClient: p.http}, &mcp.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			var names []string
			for tool, err := range session.Tools(ctx, nil) {
				if err != nil {
					t.Fatal(err)
				}
				names = append(names, tool.Name)
			}
			want := []string{"find_tools", "describe_tools", "call_tool", "pruner::recover_text", "pruner::recover_chars", "pruner::search_text"}
			if slices.Sort(names); len(names) != len(want) || !slices.Contains(names, "find_tools") || !slices.Contains(names, "pruner::recover_text") {
				t.Errorf("listed are %q, want %q", names, want)
			}
			call := func(name string, arguments map[string]any) string {
				t.Helper()
				params := &mcp.CallToolParams{Name: name, Arguments: arguments}
				params.SetProgressToken("mine")
				r, err := session.CallTool(ctx, params)
				if err != nil {
					t.Errorf("%s %v: %v", name, arguments, err)
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
			for query, first := range map[string]string{"everything::echo": "everything::echo(", "read the contents of a text file": "files::read_text_file(", "knowledge graph: read all of it": "memory::read_graph("} {
				if got := call("find_tools", map[string]any{"query": query}); !strings.HasPrefix(got, first) {
					t.Errorf("find_tools %q = %q, want %s first", query, got, first)
				}
			}
			for _, tc := range []struct {
				tool      string
				arguments map[string]any
				want      string
			}{
				{"everything::echo", map[string]any{"message": "Grüße 🌿"}, "Echo: Grüße 🌿"},
				{"files::read_text_file", map[string]any{"path": dir + "/note.txt"}, "a line to be read"},
				{"files::read_text_file", map[string]any{"file": "x"}, `path is missing`},
				{"everything::trigger-elicitation-request", map[string]any{}, "Name: Ada"},
				{"modern::test_input_required_result_elicitation", map[string]any{}, "Hello, Ada!"},
				{"everything::trigger-long-running-operation", map[string]any{"duration": 0.2, "steps": 2}, "completed"},
				{"everything::ecko", map[string]any{}, "nearest: everything::echo"},
			} {
				if got := call("call_tool", map[string]any{"name": tc.tool, "arguments": tc.arguments}); !strings.Contains(got, tc.want) {
					t.Errorf("%s: %q, want %q in it", tc.tool, got, tc.want)
				}
			}
			select {
			case <-progress:
			case <-time.After(30 * time.Second):
				t.Error("no progress of a tool that was found")
			}
			if got := call("everything::echo", map[string]any{"message": "by its own name"}); !strings.Contains(got, "by its own name") {
				t.Errorf("a tool that is not listed, by its own name: %q", got)
			}
		})
	}
}

// The TypeScript SDK's client and the Inspector find and call a tool that is not listed.
func TestTypeScriptClientsFindTools(t *testing.T) {
	config, dir := threeServers(t)
	p := start(t, config)
	t.Run("SDK", func(t *testing.T) {
		runScript(t, "search-client.mjs", []string{
			`{"step":"told","hint":true}`,
			`{"step":"listed","names":["find_tools","describe_tools","call_tool"]}`,
			`{"step":"found","first":"everything::echo"}`,
			`{"step":"called","text":"Echo: hi"}`,
			`{"step":"wrong","isError":true,"schema":true}`,
			`{"step":"same","list":true}`,
		}, dir, p.url+"/mcp?tools=search")
	})
	for _, era := range []string{"legacy", "modern"} {
		t.Run("Inspector "+era, func(t *testing.T) {
			at := []string{p.url + "/mcp?tools=search", "--transport", "http", "--protocol-era", era}
			inspect(t, []string{`"name":"find_tools"`}, append(at, "--method", "tools/list"))
			inspect(t, []string{`Echo: hi`}, append(at, "--method", "tools/call", "--tool-name", "call_tool", "--tool-arg", "name=everything::echo", "--tool-arg", `arguments={"message":"hi"}`))
		})
	}
}

// What a caller may not have answers through call_tool, find_tools and describe_tools as where it does not exist.
func TestDeniedServersAreAsAbsentWhereToolsAreFound(t *testing.T) {
	const demo = "[[servers]]\nid = \"demo\"\nbuiltin = \"demo\"\n"
	const rules = "[store]\nurl = \"memory:\"\n[observation_masking.mcp]\nenabled = false\n[[acl]]\nrole = \"dev\"\nserver = [\"twin\"]\naction = \"deny\"\n"
	talk := func(config string) (said []string) {
		p := start(t, config+rules+tokenRow("dev", "token-of-dev", "")+"roles = [\"dev\"]\n"+tokenRow("lead", "token-of-lead", "")+"roles = [\"admin\"]\n")
		ask := func(token, name, arguments string) answer {
			return p.as(t, token, "/mcp?tools=search", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,%s}}`, name, arguments, modernMeta),
				"Accept", "application/json", "Mcp-Protocol-Version", modern, "Mcp-Method", "tools/call", "Mcp-Name", name)
		}
		ask("token-of-lead", "find_tools", `{"query":"twin::read_log"}`) // whose index is not the other's
		say := func(name, arguments string) {
			a := ask("token-of-dev", name, arguments)
			said = append(said, fmt.Sprintf("%d %.400s", a.status, a.body))
		}
		say("call_tool", `{"name":"twin::read_source","arguments":{}}`)
		say("call_tool", `{"name":"twin__read_log","arguments":{}}`)
		say("call_tool", `{"name":"twin::none","arguments":{}}`)
		say("call_tool", `{"name":"read_json","arguments":{}}`)
		say("describe_tools", `{"names":["twin::read_log","read_source"]}`)
		say("find_tools", `{"query":"twin::read_log"}`)
		say("find_tools", `{"query":"a log of the twin","limit":20}`)
		say("twin::read_log", `{}`)
		a := p.as(t, "token-of-dev", "/mcp?tools=search", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+modernMeta+`}}`,
			"Accept", "application/json", "Mcp-Protocol-Version", modern, "Mcp-Method", "tools/list")
		return append(said, a.body)
	}
	denied, absent := talk(demo+"[[servers]]\nid = \"twin\"\nbuiltin = \"demo\"\n"), talk(demo)
	for i := range denied {
		if denied[i] != absent[i] {
			t.Errorf("denied: %s\nabsent: %s", denied[i], absent[i])
		}
	}
	if !strings.Contains(denied[len(denied)-1], `\n- demo`) || strings.Contains(denied[len(denied)-1], `\n- twin`) {
		t.Errorf("the servers of find_tools: %s", denied[len(denied)-1])
	}
}
