package test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"secateur/internal/config"
)

// The README's commands work when pasted.
func TestReadme(t *testing.T) {
	need(t, "curl")
	cfg, mistakes := config.Default(config.Options{Listen: "127.0.0.1:0"})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	// A busy machine's store may exceed the default, which then cuts nothing.
	cfg.Store.PutTimeout = time.Minute
	p := startConfig(t, cfg)
	blocks := codeBlocks(t, "../README.md")
	ran := 0
	for line := range strings.SplitSeq(blocks["sh"], "\n") {
		if !strings.HasPrefix(line, "curl ") {
			continue
		}
		ran++
		out, err := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(line, "http://127.0.0.1:8000", p.url)).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "KIMI_PROXY_OBSERVATION_MASKED") || !strings.Contains(string(out), "X-Secateur-Originals: prn_") {
			t.Errorf("%s\n%v\n%.400s", line, err, out)
		}
		for marker := range strings.SplitSeq(blocks[""], "\n") {
			if strings.Contains(marker, "KIMI_PROXY") && !strings.Contains(string(out), strings.TrimSpace(marker)) {
				t.Errorf("the README shows %q, the program says something else", marker)
			}
		}
	}
	if ran == 0 {
		t.Error("the README has no curl line")
	}
	if _, mistakes := config.Load("README.toml", []byte(blocks["toml"]), config.Options{}); len(mistakes) > 0 {
		t.Errorf("the README's configuration: %v", mistakes)
	}
}

// codeBlocks collects the fenced blocks of a document by language.
func codeBlocks(t *testing.T, file string) map[string]string {
	t.Helper()
	doc, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	blocks := map[string]string{}
	language, inside := "", false
	for line := range strings.Lines(string(doc)) {
		if fence, ok := strings.CutPrefix(line, "```"); ok {
			language, inside = strings.TrimSpace(fence), !inside
			continue
		}
		if inside {
			blocks[language] += line
		}
	}
	return blocks
}
