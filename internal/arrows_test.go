package internal_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// arrows lists what each wing may import of the others: a wing, or one package of it. A package with a line of its
// own has only that line. Within a wing the compiler forbids circles. Draw new packages in docs/architecture.md.
var arrows = map[string]string{
	"config": "access cut llm mcp prune secret store ops/telemetry ops/capture",
	"mcp":    "access config/suggest cut/cutting cut/mask front llm/tokens rawjson secret store ops/telemetry ops/events ops/replica",
	"llm":    "access cut/mask front prune rawjson secret store ops/telemetry",
	"prune":  "access cut/mask llm/tokens llm/bpe mcp rawjson secret store",
	"cut":    "llm/tokens mcp/upstream prune prune/excerpt rawjson store ops/telemetry",
	"store":  "",
	"access": "rawjson secret store",
	"ops":    "access rawjson secret store",
	"front":  "access",

	"access/admission": "access mcp/wire mcp/era mcp/catalog rawjson store ops/telemetry ops/events",
	"ops/admin":        "access prune store ops",
	"ops/clients":      "config/document store",
	"ops/doctor":       "access mcp/child secret",
	"rawjson":          "", "secret": "",
}

// core packages do no I/O, read no clock and start no goroutine, so they may not import what would let them;
// of this program they import only each other.
var (
	core = []string{
		"mcp/buffer", "mcp/toolserver", "mcp/wire", "mcp/era", "mcp/catalog", "mcp/routing", "mcp/toolindex", "cut/mask", "rawjson", "llm/chat", "llm/bill", "llm/tokens", "llm/bpe",
		"prune", "prune/excerpt", "access", "secret", "config/suggest", "config/document",
	}
	impure   = []string{"os", "os/exec", "net", "net/http", "time", "math/rand", "math/rand/v2", "log", "syscall"}
	sdkPaths = "github.com/modelcontextprotocol/go-sdk"
)

func TestArrowsPointDown(t *testing.T) {
	for pkg, imports := range importsOf(t, ".") {
		wing := wingOf(pkg)
		allowed, own := arrows[pkg]
		if !own {
			allowed, own = arrows[wing]
		}
		if !own && wing != "app" {
			t.Errorf("package %s belongs to no wing: add it to arrows", pkg)
			continue
		}
		arrow := strings.Fields(allowed)
		for _, imp := range imports {
			if to, ok := strings.CutPrefix(imp, "secateur/internal/"); ok && wing != "app" {
				if wingOf(to) != wing && !slices.Contains(arrow, to) && !slices.Contains(arrow, wingOf(to)) {
					t.Errorf("%s imports %s: no such arrow", pkg, to)
				}
				if slices.Contains(core, pkg) && !slices.Contains(core, to) {
					t.Errorf("%s imports %s: the core knows only the core", pkg, to)
				}
			}
			if strings.HasPrefix(imp, "secateur/cmd") || strings.HasPrefix(imp, "secateur/test") || imp == "secateur/internal/app" {
				t.Errorf("%s imports %s: arrows point down", pkg, imp)
			}
			if strings.HasPrefix(imp, sdkPaths) {
				t.Errorf("%s imports %s: the SDK stays out of the data path", pkg, imp)
			}
			if slices.Contains(core, pkg) && slices.Contains(impure, imp) {
				t.Errorf("%s imports %s: the core takes values and returns values", pkg, imp)
			}
		}
	}
}

// The picture in docs/architecture.md names every package under its wing, and none that is not there.
func TestPictureShowsEveryPackage(t *testing.T) {
	page, err := os.ReadFile("../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	var drawn []string
	wing := ""
	for line := range strings.Lines(string(page)) {
		if w, ok := strings.CutPrefix(line, "    internal/"); ok {
			wing, _, _ = strings.Cut(w, " ")
			drawn = append(drawn, wing)
		} else if names, ok := strings.CutPrefix(line, "      "); ok && wing != "" && !strings.Contains(line, "│") {
			names, _, _ = strings.Cut(names, "  ")
			for name := range strings.SplitSeq(strings.TrimSpace(names), ", ") {
				drawn = append(drawn, wing+"/"+name)
			}
		} else if !strings.Contains(line, "│") {
			wing = ""
		}
	}
	found := importsOf(t, ".")
	for pkg := range found {
		if !slices.Contains(drawn, pkg) {
			t.Errorf("docs/architecture.md does not draw internal/%s", pkg)
		}
	}
	for _, pkg := range drawn {
		isWing := slices.ContainsFunc(slices.Collect(maps.Keys(found)), func(p string) bool { return wingOf(p) == pkg })
		if _, there := found[pkg]; !there && !isWing {
			t.Errorf("docs/architecture.md draws internal/%s, which is not there", pkg)
		}
	}
}

func wingOf(pkg string) string {
	wing, _, _ := strings.Cut(pkg, "/")
	return wing
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
		pkg := filepath.ToSlash(filepath.Dir(file))
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
