package test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"secateur/test/llm"
)

// reading is a model that reads that many files, the first two at once, thinks before each, and
// then answers.
func reading(files int, call func(path string) llm.Call) llm.Script {
	return func(turn llm.Turn) llm.Reply {
		think := []string{"what is in it, and why?", ""}
		path := func(i int) string { return fmt.Sprintf("build-%d.log", i) }
		switch {
		case turn.Calls == 0:
			return llm.Reply{Think: think, Text: "I read both.", Calls: []llm.Call{call(path(0)), call(path(1))}}
		case turn.Calls < files:
			return llm.Reply{Think: think, Redacted: turn.Calls%2 == 0, Text: "I look for tokenTable in the next one.", Calls: []llm.Call{call(path(turn.Calls))}}
		}
		return llm.Reply{Think: []string{"that is it"}, Text: "tokenTable is not defined."}
	}
}

func TestAnthropicClientAgent(t *testing.T) {
	node := newNode(t)
	npmProgram(t, "@anthropic-ai/sdk/package.json")
	for _, c := range []struct{ model, ttl string }{{"claude-opus-5-5", ""}, {"claude-sonnet-4-5", "1h"}} {
		t.Run(c.model, func(t *testing.T) {
			t.Parallel()
			w := startWire(t, "anthropic", reading(7, func(path string) llm.Call { return llm.Call{Name: "read_file", Input: `{"path":"` + path + `"}`} }), 5, 9)
			out := w.run(t, "npm", []string{"FILES=" + logs(t, 7), "MODEL=" + c.model, "TTL=" + c.ttl}, []string{node, "anthropic-client.mjs"})
			if want := `{"turn":7,"stop":"end_turn","counted":true}`; !strings.HasSuffix(out, want+"\n") || strings.Contains(out, "false") {
				t.Errorf("the client says\n%s\nwant at the end %s", out, want)
			}
			if n := w.checkAll(t, messagesPath); n < 5 {
				t.Errorf("%d results stand pruned at the end", n)
			}
			w.checkAll(t, "/v1/messages/count_tokens")
		})
	}
}

func TestResponsesClientAgent(t *testing.T) {
	node := newNode(t)
	npmProgram(t, "openai/package.json")
	for _, c := range []struct{ model, store string }{{"gpt-5.6-sol", "no"}, {"gpt-5.5", "no"}, {"gpt-5", "yes"}} {
		t.Run(c.model, func(t *testing.T) {
			t.Parallel()
			w := startWire(t, "openai", reading(7, func(path string) llm.Call { return llm.Call{Name: "read_file", Input: `{"path":"` + path + `"}`} }), 3, 5)
			out := w.run(t, "npm", []string{"FILES=" + logs(t, 7), "MODEL=" + c.model, "STORE=" + c.store, "BASE_URL=" + w.url + "/v1"}, []string{node, "responses-client.mjs"})
			if want := `{"turn":7,"status":"completed","cached":true}`; !strings.HasSuffix(out, want+"\n") {
				t.Errorf("the client says\n%s\nwant at the end %s", out, want)
			}
			// At GPT-5.5, cached in intervals of 2048 tokens, nothing this small is pruned.
			if n := w.checkAll(t, responsesPath); c.model == "gpt-5.6-sol" && n < 5 {
				t.Errorf("%d results stand pruned at the end", n)
			}
		})
	}
}

// Claude Code itself, in print mode, on a model that binds thinking: two runs of one conversation.
func TestClaudeCode(t *testing.T) {
	claude := npmProgram(t, "@anthropic-ai/claude-code-linux-x64/claude", "@anthropic-ai/claude-code-linux-arm64/claude")
	t.Parallel()
	dir, home := logs(t, 8), t.TempDir()
	w := startWire(t, "anthropic", reading(7, func(path string) llm.Call {
		return llm.Call{Name: "Bash", Input: `{"command":"cat ` + path + `","description":"Reads a log"}`}
	}), 3, 5)
	env := []string{
		"HOME=" + home, "ANTHROPIC_BASE_URL=" + w.url, "ANTHROPIC_API_KEY=sk-ant-client", "DISABLE_AUTOUPDATER=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "ANTHROPIC_CUSTOM_HEADERS=X-Conversation: one",
	}
	ask := func(prompt string, more ...string) {
		out := w.run(t, dir, env, append([]string{claude, "-p", prompt, "--model", "claude-opus-5-5", "--allowedTools", "Bash,Read"}, more...))
		if !strings.Contains(out, "tokenTable is not defined.") {
			t.Errorf("Claude Code says %s", out)
		}
	}
	ask("Why does the build fail?")
	if first := w.provider.Requests(messagesPath)[0]; !strings.Contains(string(first.Body), `"ToolSearch"`) {
		t.Error("Claude Code has no tool search behind a base URL: docs/clients.md and secateur doctor say that it has")
	}
	w.restart(t, syscall.SIGKILL)
	ask("Are you sure?", "--continue")
	if n := w.checkAll(t, messagesPath); n < 5 {
		t.Errorf("%d results stand pruned at the end", n)
	}
	if b := w.provider.Bill("one"); b.Ratio() >= 1 {
		t.Errorf("%.4f of the bill was paid", b.Ratio())
	}
}

// Codex itself: two runs of one conversation, with a configured provider and with the built-in one.
// With the built-in one it first tries an upgrade and is refused at once.
func TestCodex(t *testing.T) {
	codex := npmProgram(t, "@openai/codex-linux-*/vendor/*/bin/codex")
	for name, provider := range map[string]string{
		"own":      "model_provider = \"secateur\"\n[model_providers.secateur]\nname = \"secateur\"\nbase_url = %q\nenv_key = \"CODEX_API_KEY\"\nwire_api = \"responses\"\n",
		"built-in": "openai_base_url = %q\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, home := logs(t, 8), t.TempDir()
			w := startWire(t, "openai", reading(7, func(path string) llm.Call {
				return llm.Call{Name: "exec", Custom: true, Input: "// @exec: {\"yield_time_ms\": 240000}\n" +
					`const r = await tools.exec_command({cmd: "cat ` + path + `", yield_time_ms: 240000}); text(r.output);`}
			}), 3, 5)
			config := "model = \"gpt-5.6-sol\"\nsandbox_mode = \"danger-full-access\"\ncheck_for_update_on_startup = false\n" + fmt.Sprintf(provider, w.url+"/v1") + "[analytics]\nenabled = false\n"
			if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
				t.Fatal(err)
			}
			env := []string{"HOME=" + home, "CODEX_HOME=" + home, "CODEX_API_KEY=sk-client"}
			ask := func(more ...string) {
				out := w.run(t, dir, env, append([]string{codex, "exec"}, more...))
				if !strings.Contains(out, "tokenTable is not defined.") {
					t.Errorf("Codex says %s", out)
				}
			}
			ask("--skip-git-repo-check", "Why does the build fail?")
			w.restart(t, syscall.SIGKILL)
			ask("resume", "--last", "--skip-git-repo-check", "Are you sure?")
			upgrades := slices.DeleteFunc(w.tap.Requests(""), func(s llm.Seen) bool { return s.Status != http.StatusUpgradeRequired })
			// Once per start.
			if want := map[string]int{"built-in": 2}[name]; len(upgrades) != want {
				t.Errorf("%d upgrades were refused, want %d", len(upgrades), want)
			}
			if n := w.checkAll(t, responsesPath); n < 5 {
				t.Errorf("%d results stand pruned at the end", n)
			}
			if b := w.provider.Bill(""); b.Ratio() >= 1 {
				t.Errorf("%.4f of the bill was paid", b.Ratio())
			}
		})
	}
}
