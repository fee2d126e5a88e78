package test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// The protocol's own Inspector lists, reads and calls through the gateway, in both eras.
func TestInspector(t *testing.T) {
	config, dir := threeServers(t)
	file := configFile(t, patient(config))
	p := start(t, config)
	uri := proxied("everything", "demo://resource/static/document/features.md")
	calls := []struct {
		overStdio bool // each of these restarts every server, so the others use HTTP only
		arguments []string
		want      []string
	}{
		{true, []string{"--method", "tools/list"}, []string{`"name":"everything::echo"`, `"name":"files::read_text_file"`, `"name":"memory::read_graph"`, `"name":"pruner::recover_text"`}},
		{true, []string{"--method", "tools/call", "--tool-name", "everything::echo", "--tool-arg", "message=hi"}, []string{`"text":"Echo: hi"`}},
		{false, []string{"--method", "tools/call", "--tool-name", "files::read_text_file", "--tool-arg", "path=" + dir + "/note.txt"}, []string{"a line to be read"}},
		{false, []string{"--method", "tools/call", "--tool-name", "memory::read_graph"}, []string{"entities"}},
		{false, []string{"--method", "resources/list"}, []string{fmt.Sprintf(`"uri":%q`, uri)}},
		{false, []string{"--method", "resources/templates/list"}, []string{`"uriTemplate":"proxy://t/everything/demo://resource/dynamic/text/{resourceId}"`}},
		{true, []string{"--method", "resources/read", "--uri", uri}, []string{fmt.Sprintf(`"uri":%q`, uri), "# Everything Server - Features"}},
		{false, []string{"--method", "prompts/list"}, []string{`"name":"everything::args-prompt"`}},
		{true, []string{"--method", "prompts/get", "--prompt-name", "everything::args-prompt", "--prompt-args", "city=Paris"}, []string{"What's weather in Paris?"}},
	}
	for _, era := range []string{"legacy", "modern"} {
		for _, call := range calls {
			name := era + " " + strings.Join(call.arguments[1:min(4, len(call.arguments))], " ")
			t.Run(name+" over HTTP", func(t *testing.T) {
				inspect(t, call.want, append([]string{p.url + "/mcp", "--transport", "http", "--protocol-era", era}, call.arguments...))
			})
			if call.overStdio {
				t.Run(name+" over stdio", func(t *testing.T) {
					inspect(t, call.want, append(append([]string{"--protocol-era", era}, call.arguments...), "--", secateur(t), "stdio", "--config", file))
				})
			}
		}
	}
}

// inspect runs the Inspector's command line and looks for texts in the result.
func inspect(t *testing.T, want, arguments []string) {
	t.Helper()
	script := npmFile(t, "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js")
	home := t.TempDir() // it keeps a catalog there
	cmd := exec.CommandContext(t.Context(), newNode(t), append([]string{script, "--cli", "--format", "json", "-q"}, arguments...)...)
	cmd.Env = append(cmd.Environ(), "HOME="+home, "MCP_CATALOG_PATH="+home+"/mcp.json")
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("inspector %q: %v\n%s%s", arguments, err, out, complaints.String())
	}
	var compact struct {
		Result json.RawMessage `json:"result"`
	}
	if err := json.Unmarshal(out, &compact); err != nil {
		t.Fatalf("inspector %q: %v\n%.400s", arguments, err, out)
	}
	for _, w := range want {
		if !strings.Contains(string(compact.Result), w) {
			t.Errorf("inspector %q: no %s in %.600s", arguments, w, out)
		}
	}
}
