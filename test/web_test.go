package test

import (
	"bytes"
	"compress/gzip"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"secateur/web"
)

// webTool is a program of the dashboard's own npm packages.
func webTool(t *testing.T, script string) []string {
	t.Helper()
	node := need(t, "node")
	if _, err := os.Stat(filepath.Join("..", "web", "node_modules", script)); err != nil {
		lack(t, "the dashboard's npm packages are not installed; make test installs them")
	}
	return []string{node, filepath.Join("node_modules", script)}
}

// The committed dashboard matches its sources: a new build is the same to the byte.
func TestDashboardIsBuiltOfItsSources(t *testing.T) {
	vite := webTool(t, "vite/bin/vite.js")
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), vite[0], append(vite[1:], "build", "--outDir", dir, "--emptyOutDir")...)
	cmd.Dir = filepath.Join("..", "web")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	built, committed := filesOf(t, os.DirFS(dir)), filesOf(t, web.Dist())
	for _, name := range slices.Sorted(maps.Keys(built)) {
		if !bytes.Equal(built[name], committed[name]) {
			t.Errorf("%s is not what was committed; run 'npm run build' in web/ and commit dist", name)
		}
	}
	for name := range committed {
		if built[name] == nil {
			t.Errorf("dist has %s, which the sources do not make", name)
		}
	}
}

// The dashboard's sources pass the type check.
func TestDashboardTypes(t *testing.T) {
	tsc := webTool(t, "typescript/bin/tsc")
	cmd := exec.CommandContext(t.Context(), tsc[0], append(tsc[1:], "--noEmit")...)
	cmd.Dir = filepath.Join("..", "web")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// The unit tests of the dashboard's pure functions pass in node's runner.
func TestDashboardUnits(t *testing.T) {
	tsc := webTool(t, "typescript/bin/tsc")
	dir := filepath.Join("..", "web", ".test", "go") // below the packages that the sources import
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for _, args := range [][]string{
		append(tsc[1:], "-p", "tsconfig.test.json", "--outDir", filepath.Join(".test", "go")),
		{"--test", filepath.Join(".test", "go")},
	} {
		cmd := exec.CommandContext(t.Context(), tsc[0], args...)
		cmd.Dir = filepath.Join("..", "web")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if args[0] == "--test" {
			if n := regexp.MustCompile(`(?m)^# pass (\d+)`).FindSubmatch(out); n == nil || string(n[1]) == "0" {
				t.Errorf("no test was run\n%s", out)
			}
		}
	}
}

// firstLoad is the maximum of compressed bytes for the first page.
const firstLoad = 150_000

// The files that index.html loads are small, and it has no inline scripts or styles.
func TestDashboardIsLight(t *testing.T) {
	files := filesOf(t, web.Dist())
	index := files["index.html"]
	total := zippedSize(t, index)
	for _, m := range regexp.MustCompile(`(?:src|href)="/ui/([^"]+)"`).FindAllSubmatch(index, -1) {
		file := files[string(m[1])]
		if file == nil {
			t.Errorf("index.html asks for %s, which is not there", m[1])
		}
		total += zippedSize(t, file)
	}
	t.Logf("first load: %d bytes compressed", total)
	if total > firstLoad {
		t.Errorf("the first load takes %d bytes, more than %d", total, firstLoad)
	}
	if inline := regexp.MustCompile(`<style|style=|<script>|<script type="module">|\son[a-z]+=|https?://`).Find(index); inline != nil {
		t.Errorf("index.html has %q in it", inline)
	}
}

func filesOf(t *testing.T, from fs.FS) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		all[name], err = fs.ReadFile(from, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func zippedSize(t *testing.T, text []byte) int {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Len()
}
