package test

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// The output of npm/mcp-client.mjs, with any connection.
var typescriptSteps = []string{
	`{"step":"connected","server":"secateur","tools":true}`,
	`{"step":"tools","paged":true,"servers":["everything","files","memory","pruner"],"twice":0}`,
	`{"step":"echo","text":"Echo: Grüße 🌿"}`,
	`{"step":"file","text":"a line to be read\n"}`,
	`{"step":"memory","found":true}`,
	`{"step":"structured","content":{"temperature":33,"conditions":"Cloudy","humidity":82}}`,
	`{"step":"image","text":"Here's the image you requested:|image|The image above is the MCP logo."}`,
	`{"step":"links","readable":1}`,
	`{"step":"progress","came":true}`,
	`{"step":"sampling","sampled":true,"asker":"everything"}`,
	`{"step":"elicitation","name":true}`,
	`{"step":"roots","found":true}`,
	`{"step":"resource","same":true,"text":"# Everything Server - Features"}`,
	`{"step":"updated","same":true}`,
	`{"step":"prompts","names":4}`,
	`{"step":"prompt","text":"What's weather in Paris?"}`,
	`{"step":"completion","values":["Alice"]}`,
	`{"step":"unknown","failed":true}`,
}

func TestTypeScriptClient(t *testing.T) {
	config, dir := threeServers(t)
	t.Run("stdio", func(t *testing.T) {
		runScript(t, "mcp-client.mjs", typescriptSteps, dir, "stdio", secateur(t), "stdio", "--config", configFile(t, patient(config)))
	})
	p := start(t, config)
	t.Run("Streamable HTTP", func(t *testing.T) {
		runScript(t, "mcp-client.mjs", typescriptSteps, dir, "http", p.url+"/mcp")
	})
	t.Run("HTTP+SSE", func(t *testing.T) {
		runScript(t, "mcp-client.mjs", typescriptSteps, dir, "sse", p.url+"/mcp")
	})
}

// Servers over HTTP ask the client like those on a pipe.
func TestTypeScriptClientOfHTTPServers(t *testing.T) {
	config, dir := filesAndMemory(t)
	for _, tc := range []struct{ transport, path, more string }{
		{"streamableHttp", "/mcp", ""},
		{"sse", "/sse", `transport = "sse"`},
	} {
		t.Run(tc.transport, func(t *testing.T) {
			p := start(t, fmt.Sprintf("[[servers]]\nid = \"everything\"\nurl = %q\n%s\n", startEverything(t, tc.transport, tc.path), tc.more)+config)
			runScript(t, "mcp-client.mjs", typescriptSteps, dir, "http", p.url+"/mcp")
		})
	}
}

// startEverything runs npm's server-everything on a port and returns its address.
func startEverything(t *testing.T, transport, path string) string {
	t.Helper()
	command := append(npmServer(t, "server-everything"), transport)
	addr := freePort(t)
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "PORT="+addr[strings.LastIndexByte(addr, ':')+1:])
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	waitForListener(t, addr)
	return "http://" + addr + path
}

// runScript runs a script of npm's folder and compares its output, line by line.
func runScript(t *testing.T, script string, want []string, root string, arguments ...string) {
	t.Helper()
	npmFile(t, "@modelcontextprotocol", "sdk", "package.json")
	cmd := exec.CommandContext(t.Context(), newNode(t), append([]string{script}, arguments...)...)
	cmd.Dir = "npm"
	cmd.Env = append(os.Environ(), "ROOT="+root)
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("%s: %v", script, err)
	}
	checkSteps(t, out, want)
}

// checkSteps compares the output of a script with the expected lines.
func checkSteps(t *testing.T, printed []byte, want []string) {
	t.Helper()
	got := strings.Split(strings.TrimSpace(string(printed)), "\n")
	for i := range max(len(got), len(want)) {
		g, w := "", ""
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Errorf("step %d:\n got %s\nwant %s", i+1, g, w)
		}
	}
}

// The output of npm/mcp-client-v2.mjs: a client of either era calls servers of either era, and is
// asked by them.
func typescriptV2Steps(era string) []string {
	steps := []string{
		`{"step":"connected","era":"` + era + `","server":"secateur"}`,
		`{"step":"tools","servers":["everything","files","memory","modern","pruner"]}`,
		`{"step":"echo","text":"Echo: Grüße 🌿"}`,
		`{"step":"file","text":"a line to be read\n"}`,
		`{"step":"asked by a legacy server","elicitation":true,"sampling":true}`,
		`{"step":"asked by a modern server","elicitation":"Hello, Ada!","sampling":true,"roots":true,"all":true,"rounds":true}`,
		`{"step":"progress","came":true}`,
		`{"step":"resource","same":true}`,
		`{"step":"prompt","text":"What's weather in Paris?"}`,
		`{"step":"listening","honoured":true,"watched":true}`,
		`{"step":"updated","same":true}`,
		`{"step":"unknown","failed":true}`,
	}
	if era == "legacy" {
		return slices.Concat(steps[:9], steps[10:])
	}
	return steps
}

func TestTypeScriptClientOfBothEras(t *testing.T) {
	config, dir := threeServers(t)
	config += modernServer(t)
	for mode, era := range map[string]string{"legacy": "legacy", modern: "modern"} {
		t.Run(mode+" Streamable HTTP", func(t *testing.T) {
			p := start(t, config)
			runScript(t, "mcp-client-v2.mjs", typescriptV2Steps(era), dir, mode, "http", p.url+"/mcp")
		})
	}
	t.Run("auto stdio", func(t *testing.T) {
		runScript(t, "mcp-client-v2.mjs", typescriptV2Steps("modern"), dir, "auto", "stdio", secateur(t), "stdio", "--config", configFile(t, patient(config)))
	})
}
