package internal_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// arrows lists, for each package, which other packages of the program it may import. Arrows point down:
// doors know the rim and the core, the rim knows the core, the core knows only the core it names here.
// To add an arrow, add it here and to the picture in docs/architecture.md.
var arrows = map[string][]string{
	"app": {
		"cutting", "capture", "clock", "secret",
		"budget", "redisdb", "replicas", "config", "gateway", "aggregate", "llmproxy", "demo", "pruner", "admin", "upstream", "child", "originals", "rerank", "ratelimit", "telemetry", "records",
		"templates", "events", "history", "pool", "tasks", "downstream", "rpchttp", "datarate", "catalog", "access", "auth", "oauth", "outbound", "pins", "admission", "mask", "chat", "tokens", "rawjson", "rpc", "era", "suggest", "clients", "document", "ledger", "ui", "prune", "bill", "replay",
	},
	"config": {"capture", "routing", "redisdb", "telemetry", "auth", "oauth", "pins", "ratelimit", "upstream", "originals", "pruner", "llmproxy", "catalog", "chat", "mask", "access", "secret", "suggest", "document"},

	// doors
	"aggregate": {
		"telemetry", "replicas", "events", "admission", "tasks", "pool", "downstream", "upstream", "cutting", "originals", "rpchttp", "catalog", "era", "mask", "access", "rpc", "buffer", "rawjson", "secret",
	},
	"gateway":   {"telemetry", "events", "upstream", "tasks", "cutting", "originals", "admission", "catalog", "rpchttp", "mask", "access", "rpc", "rawjson"},
	"demo":      {"toolserver", "rpc"},
	"templates": {"atomicfile", "toolserver", "rpc", "rawjson"},
	"pruner":    {"downstream", "originals", "rerank", "admission", "catalog", "rpchttp", "access", "prune", "tokens", "toolserver", "mask", "era", "rpc", "rawjson"},
	"llmproxy":  {"oauth", "telemetry", "budget", "datarate", "originals", "admission", "chat", "bill", "prune", "rawjson", "access", "secret"},
	"admin":     {"access", "prune", "events", "history", "ledger"},
	"ui":        {"ratelimit", "access"},

	// rim
	"pool":       {"access", "routing", "upstream", "catalog", "era", "rpc", "rawjson"},
	"downstream": {"overdue", "ratelimit", "rpchttp", "access", "era", "rpc", "rawjson"},
	"upstream":   {"overdue", "oauth", "telemetry", "budget", "child", "access", "buffer", "era", "rpc", "rawjson", "secret"},
	"child":      {"secret"},
	"tasks":      {"access", "rawjson"},
	"cutting":    {"telemetry", "upstream", "originals", "mask", "tokens"},
	"originals":  {"redisdb", "atomicfile", "clock"},
	"records":    {"redisdb", "atomicfile", "clock"},
	"clock":      {},
	"atomicfile": {},
	"redisdb":    {},
	"replicas":   {"redisdb", "access", "rawjson"},
	"replay":     {"chat", "bill", "bpe"},
	"rerank":     {"secret"},
	"ratelimit":  {"redisdb", "access"},
	"auth":       {"redisdb", "atomicfile", "outbound", "access", "rawjson", "secret"},
	"outbound":   {"access"},
	"capture":    {"access", "rawjson"},
	"pins":       {"atomicfile", "rawjson"},
	"oauth":      {"atomicfile", "secret"},
	"admission":  {"telemetry", "atomicfile", "events", "ratelimit", "access", "catalog", "era", "rpc", "rawjson"},
	"telemetry":  {"events", "history", "rawjson", "secret"},
	"rpchttp":    {"budget", "datarate", "buffer", "rpc", "access"},
	"events":     {},
	"history":    {"redisdb", "atomicfile"},
	"ledger":     {},
	"datarate":   {},
	"overdue":    {},
	"budget":     {"access"},
	"clients":    {"atomicfile", "document"},
	"doctor":     {"child", "access", "secret"},

	// core
	"buffer":     {},
	"toolserver": {"era", "rpc", "rawjson"},
	"rpc":        {"rawjson"},
	"era":        {"rpc", "rawjson"},
	"mask":       {"rawjson"},
	"rawjson":    {},
	"chat":       {"bill", "bpe", "prune", "tokens", "mask", "rawjson"},
	"bill":       {},
	"catalog":    {"era", "rawjson"},
	"prune":      {"tokens"},
	"tokens":     {},
	"bpe":        {},
	"routing":    {"access"},
	"access":     {"rawjson", "secret"},
	"secret":     {},
	"suggest":    {},
	"document":   {},
}

// pure packages do no I/O, read no clock and start no goroutine, so they may not import what would let them.
var (
	pure     = []string{"buffer", "toolserver", "rpc", "era", "mask", "rawjson", "chat", "bill", "catalog", "prune", "tokens", "bpe", "routing", "access", "secret", "suggest", "document"}
	impure   = []string{"os", "os/exec", "net", "net/http", "time", "math/rand", "math/rand/v2", "log", "syscall"}
	sdkPaths = "github.com/modelcontextprotocol/go-sdk"
)

func TestArrowsPointDown(t *testing.T) {
	for pkg, imports := range importsOf(t, ".") {
		allowed, known := arrows[pkg]
		if !known {
			t.Errorf("package %s is not in the picture: add it to arrows with what it may import", pkg)
			continue
		}
		for _, imp := range imports {
			if own, ok := strings.CutPrefix(imp, "secateur/internal/"); ok {
				own, _, _ = strings.Cut(own, "/")
				if own != pkg && !slices.Contains(allowed, own) {
					t.Errorf("%s imports %s: no such arrow", pkg, own)
				}
			}
			if strings.HasPrefix(imp, "secateur/cmd") || strings.HasPrefix(imp, "secateur/test") {
				t.Errorf("%s imports %s: arrows point down", pkg, imp)
			}
			if strings.HasPrefix(imp, sdkPaths) {
				t.Errorf("%s imports %s: the SDK stays out of the data path", pkg, imp)
			}
			if slices.Contains(pure, pkg) && slices.Contains(impure, imp) {
				t.Errorf("%s imports %s: the core takes values and returns values", pkg, imp)
			}
		}
	}
}

// importsOf maps each package below root to what its program files (not its tests) import. A folder within a
// package's folder that holds only test help counts as tests.
func importsOf(t *testing.T, root string) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == "testdata" || (strings.HasSuffix(d.Name(), "test") && d.Name() != ".") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		src, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, src, parser.ImportsOnly)
		if err != nil {
			return err
		}
		pkg, _, _ := strings.Cut(filepath.ToSlash(filepath.Dir(file)), "/")
		for _, imp := range f.Imports {
			found[pkg] = append(found[pkg], path.Clean(strings.Trim(imp.Path.Value, `"`)))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
