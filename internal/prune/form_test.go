package prune

import (
	"fmt"
	"strings"
	"testing"
)

func TestFormOf(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want Form
	}{
		"json":                  {"{\n  \"a\": 1,\n  \"b\": [\n    true,\n    null\n  ]\n}\n", JSON},
		"lines of json":         {"{\"level\":\"info\",\"msg\":\"a\"}\n{\"level\":\"error\",\"msg\":\"b\"}\n", NDJSON},
		"csv":                   {"id,name,price\n1,\"a, b\",3\n2,c,4\n3,d,5\n", Table},
		"tsv":                   {"a\tb\n1\t2\n3\t4\n5\t6\n", Table},
		"a diff":                {"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-old\n+new\n same\n", Diff},
		"yaml":                  {"on: push\njobs:\n  build:\n    steps:\n    - run: make\n    - uses: a/b@v1\n", YAML},
		"toml":                  {"[a]\nb = 1\n\n[c.d]\ne = \"f\"\n", TOML},
		"html behind a comment": {"<!--\nmade by hand\n-->\n<h1>One</h1>\n<p>text\nthat goes on</p>\n<p>more</p>\n", HTML},
		"html with a mark":      {"\ufeff<!DOCTYPE html>\n<title>x</title>\n<p>y\n", HTML},
		"xml":                   {"<?xml version=\"1.0\"?>\n<project>\n<name>x</name>\n</project>\n", Markup},
		"html":                  {"<!DOCTYPE html>\n<html>\n<body>x</body>\n</html>\n", HTML},
		"hits":                  {"a.go:1:x\na.go:5:y\nb.go:2:z\n", Hits},
		"hits under their file": {"internal/a.go\n1:x\n5:y\n9:z\n12:q\n\ncmd/b.go\n2:z\n3:u\n7:v\n8:w\n9:w\n", Hits},
		"a listing":             {"total 8\n-rw-r--r-- 1 a a 1 Jan 1 00:00 x\ndrwxr-xr-x 2 a a 4 Jan 1 00:00 y\n", Listing},
		"a tree":                {".\n├── a\n│   └── b.go\n└── c\n", Plain},
		"what find prints":      {"./a/b\n./a/c.go\n./d\n", Listing},
		"minified":              {strings.Repeat("function a(){return 1};", 400), OneLine},
		"code":                  {"func f() {\n\treturn\n}\n", Plain},
		"prose":                 {"One line of prose, with a comma.\nAnother: with a colon.\nAnd a third, the last.\n", Plain},
	} {
		if got := FormOf(c.text); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A line that the goal names stays together with its enclosing lines.
func TestFormsKeepWhatBelongsTogether(t *testing.T) {
	var yaml, diff, toml, hits, csv strings.Builder
	yaml.WriteString("version: 2\nservices:\n")
	csv.WriteString("id,name,city,note\n")
	for i := range 120 {
		fmt.Fprintf(&yaml, "  service%d:\n    image: registry/image%d\n    environment:\n      LEVEL: info\n      PORT: \"%d\"\n", i, i, 8000+i)
		fmt.Fprintf(&toml, "[server.s%d]\nhost = \"10.0.0.%d\"\nport = %d\nname = \"machine number %d of the rack\"\n\n", i, i, 8000+i, i)
		fmt.Fprintf(&hits, "src/module%d.go:%d:\tvalue := compute(%d)\nsrc/module%d.go:%d:\treturn value\n", i, i, i, i, i+3)
		fmt.Fprintf(&csv, "%d,customer number %d,city%d,nothing special to say about it\n", i, i, i%9)
		fmt.Fprintf(&diff, "diff --git a/f%d.go b/f%d.go\nindex 1..2 100644\n--- a/f%d.go\n+++ b/f%d.go\n@@ -1,6 +1,6 @@ func f%d()\n \ta := %d\n \tb := a\n-\told%d(b)\n+\tnew%d(b)\n \tc := b\n \treturn c\n", i, i, i, i, i, i, i, i)
	}
	for _, c := range []struct {
		name, text, goal string
		source           Source
		stay             []string
	}{
		{"yaml", yaml.String(), "which PORT does service77 use, 8077", Code, []string{"services:", "  service77:", `PORT: "8077"`}},
		{"yaml told docs", yaml.String(), "which PORT does service77 use, 8077", Docs, []string{"services:", "  service77:", `PORT: "8077"`}},
		{"toml", toml.String(), "host 10.0.0.77 of s77", Code, []string{"[server.s77]", `"10.0.0.77"`}},
		{"csv", csv.String(), "customer number 77", Logs, []string{"id,name,city", "customer number 77,"}},
		{"hits", hits.String(), "module77", Code, []string{"src/module77.go:77:", "src/module77.go:80:"}},
		{"diff", diff.String(), "call new77 instead of old77", Code, []string{"diff --git a/f77.go", "+++ b/f77.go", "func f77()", "\told77(b)", "\tnew77(b)", "a := 77"}},
	} {
		req := Request{Text: c.text, Goal: c.goal, Source: c.source, MaxPruneRatio: .9, Structure: Enclosing, Marker: idMarker}
		res := Plan(req)
		checkMarkers(t, req, res)
		out, _ := Render(c.text, res, anID, false, false)
		for _, part := range c.stay {
			if !strings.Contains(out, part) {
				t.Errorf("%s: %q is cut", c.name, part)
			}
		}
		if res.Pruned() < res.Lines/2 {
			t.Errorf("%s: %d of %d lines cut", c.name, res.Pruned(), res.Lines)
		}
	}
}

// A hunk is kept or cut as a whole.
func TestHunksAreWhole(t *testing.T) {
	var b strings.Builder
	for f := range 5 {
		fmt.Fprintf(&b, "diff --git a/f%d.go b/f%d.go\n--- a/f%d.go\n+++ b/f%d.go\n", f, f, f, f)
		for h := range 6 {
			fmt.Fprintf(&b, "@@ -%d,8 +%d,8 @@\n", h*40+1, h*40+1)
			for l := range 8 {
				fmt.Fprintf(&b, "%c\tstatement%d_%d(%d)\n", " -+"[l%3], f, h, l)
			}
		}
	}
	text := b.String()
	for _, ratio := range []float64{.3, .5, .7, .9} {
		res := Plan(Request{Text: text, Goal: "statement2_3", Source: Code, MaxPruneRatio: ratio, Structure: Enclosing, Marker: idMarker})
		k := kept(res)
		lines := strings.Split(text, "\n")
		for i := range lines {
			if !strings.HasPrefix(lines[i], "@@") {
				continue
			}
			for j := i + 1; j < i+9; j++ {
				if k[j+1] != k[i+1] {
					t.Fatalf("ratio %v: the hunk at line %d is cut in two", ratio, i+1)
				}
			}
		}
		if res.Pruned() == 0 {
			t.Errorf("ratio %v: nothing cut", ratio)
		}
	}
}

func TestStackTracesStayInAnyText(t *testing.T) {
	text := strings.Repeat("x = compute(y)\ny = other(x)\n", 100) +
		"Traceback (most recent call last):\n  File \"a.py\", line 3, in run\n    go(1)\nValueError: no such key\n" + strings.Repeat("z = third(x)\n", 100)
	for _, source := range []Source{Code, Docs} {
		out, _ := Render(text, Plan(Request{Text: text, Goal: "why does it fail", Source: source, MaxPruneRatio: .9, Structure: Enclosing}), anID, false, false)
		for _, part := range []string{"Traceback", "a.py", "ValueError"} {
			if !strings.Contains(out, part) {
				t.Errorf("%v: %s is cut", source, part)
			}
		}
	}
}

func FuzzFormOf(f *testing.F) {
	for _, s := range []string{"{\n\"a\":1\n}", "a,b,c\n1,2,3\n1,2,3\n4,5,6\n", "a:\n  - b\n", "[x]\ny=1\nz=2\n", "@@ -1 +1 @@\n-a\n+b\n", "<a>\n<b>\n</a>\n"} {
		f.Add(s, "a", .5)
	}
	f.Fuzz(func(t *testing.T, text, goal string, ratio float64) {
		for _, source := range []Source{Code, Logs, Docs} {
			req := Request{Text: text, Goal: goal, Source: source, MaxPruneRatio: ratio, Structure: Enclosing, Marker: idMarker}
			checkMarkers(t, req, Plan(req))
			Guess("", text)
		}
	})
}
