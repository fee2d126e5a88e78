package templates

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"secateur/internal/mcp/wire"
)

func TestURIsAreReadOffTheirTemplate(t *testing.T) {
	for _, c := range []struct {
		rule, template, uri, want string // want: values of a, b; "-": no match
	}{
		{"a variable", "note://{a}", "note://x", "x,"},
		{"is a part of a path", "note://{a}", "note://x/y", "-"},
		{"or anything", "note://{+a}", "note://x/y?z", "x/y?z,"},
		{"is not empty", "note://{a}", "note://", "-"},
		{"two", "note://{a}/v{b}", "note://x/v1.2", "x,1.2"},
		{"the same twice", "note://{a}/{a}", "note://x/x", "x,"},
		{"the same twice with two values", "note://{a}/{a}", "note://x/y", "-"},
		{"escapes", "note://{a}", "note://x%20y%2Fz", "x y/z,"},
		{"what only looks like one", "note://{a}", "note://100%", "100%,"},
		{"signs of regular expressions", "a+b:(.*){a}", "a+b:(.*)x", "x,"},
		{"are no regular expressions", "a+b:.*{a}", "a+b:zzx", "-"},
		{"none", "note:fixed", "note:fixed", ","},
		{"the whole URI", "note:fixed", "note:fixed2", "-"},
	} {
		p, err := readPattern(c.template)
		if err != nil {
			t.Errorf("%s: %v", c.rule, err)
			continue
		}
		got := "-"
		if values, ok := p.match(c.uri); ok {
			got = values["a"] + "," + values["b"]
		}
		if got != c.want {
			t.Errorf("%s: %s of %s = %q, want %q", c.rule, c.uri, c.template, got, c.want)
		}
	}
	p, _ := readPattern("note://{+a}")
	if _, ok := p.match("note://" + strings.Repeat("x", maxURI)); ok {
		t.Error("a URI without bounds is read")
	}
}

func TestWhatIsNoTemplateSaysWhy(t *testing.T) {
	good := Template{Name: "a", URITemplate: "note://{x}", Text: "hi"}
	for want, change := range map[string]func(*Template){
		"name: must be":                  func(t *Template) { t.Name = "../a" },
		"not begin with a dot":           func(t *Template) { t.Name = ".a" },
		"begins with no scheme":          func(t *Template) { t.URITemplate = "{x}" },
		"only {var} and {+var}":          func(t *Template) { t.URITemplate = "note:{?q}" },
		"has {x, and":                    func(t *Template) { t.URITemplate = "note:{x" },
		"a } without its {":              func(t *Template) { t.URITemplate = "note:x}" },
		"a space or a control":           func(t *Template) { t.URITemplate = "note:a b" },
		"uri_template: has more than 20": func(t *Template) { t.URITemplate = "note:" + strings.Repeat("x", maxURI) },
		"more than 16 variables":         func(t *Template) { t.URITemplate = "note:" + strings.Repeat("{x}/", 17) },
		"mime_type: is none":             func(t *Template) { t.MIMEType = "text/" },
		"text: must be UTF-8":            func(t *Template) { t.Text = strings.Repeat("x", MaxText+1) },
		"of at most":                     func(t *Template) { t.Text = "\xff" },
	} {
		bad := good
		change(&bad)
		_, err := Open("", nil).Create(bad)
		if _, invalid := errors.AsType[Invalid](err); !invalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%+.60v: %v, want %q", bad, err, want)
		}
	}
}

func TestVariablesAreFilledIn(t *testing.T) {
	values := map[string]string{"a": "A", "b": "{a}"}
	for text, want := range map[string]string{
		"{a} and {b}": "A and {a}", // filled-in values are not expanded again
		"{c} {a":      "{c} {a",
		"{{a}}":       "{A}",
		"a":           "a",
		"{}{":         "{}{",
	} {
		if got, ok := fill(text, values, 100); !ok || got != want {
			t.Errorf("fill(%q) = %q, want %q", text, got, want)
		}
	}
	if _, ok := fill(strings.Repeat("{v}", 1000), map[string]string{"v": strings.Repeat("x", 1000)}, 1000); ok {
		t.Error("a text without bounds is made")
	}
}

func create(t *testing.T, b *Book, name, uri, text string) {
	t.Helper()
	if _, err := b.Create(Template{Name: name, URITemplate: uri, Text: text}); err != nil {
		t.Fatal(err)
	}
}

// Templates survive a restart, readable by their owner only. Deleted ones do not, and unreadable
// files are skipped.
func TestABookSurvivesARestart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "templates")
	log := slog.New(slog.DiscardHandler)
	b := Open(dir, log)
	create(t, b, "b", "b://{x}", "B {x}")
	create(t, b, "a", "a://{x}", "A {x}")
	create(t, b, "gone", "gone://{x}", "")
	if _, err := b.Replace(Template{Name: "b", URITemplate: "b://{x}", MIMEType: "text/markdown", Text: "# {x}"}); err != nil {
		t.Fatal(err)
	}
	if err := b.Delete("gone"); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"torn.json": `{"name":`, "other.json": `{"name":"a"}`, ".b.json-1": "x"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := []Template{{"a", "a://{x}", "text/plain", "A {x}"}, {"b", "b://{x}", "text/markdown", "# {x}"}}
	if got := Open(dir, log).List(); !slices.Equal(got, want) || !slices.Equal(b.List(), want) {
		t.Errorf("after a restart %v, before %v, want %v", got, b.List(), want)
	}
	if info, err := os.Stat(filepath.Join(dir, "a.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v, want 0600", info, err)
	}
}

func TestABookRefuses(t *testing.T) {
	b := Open("", nil)
	create(t, b, "a", "a://{x}", "")
	if _, err := b.Create(Template{Name: "a", URITemplate: "other://{x}"}); !errors.Is(err, ErrExists) {
		t.Errorf("the same name: %v", err)
	}
	if _, err := b.Create(Template{Name: "b", URITemplate: "a://{x}"}); !errors.Is(err, ErrSameURI) {
		t.Errorf("the same URI: %v", err)
	}
	if _, err := b.Replace(Template{Name: "b", URITemplate: "b://{x}"}); !errors.Is(err, ErrNotFound) {
		t.Errorf("one that is not there: %v", err)
	}
	if err := b.Delete("b"); !errors.Is(err, ErrNotFound) {
		t.Errorf("one that is not there: %v", err)
	}
	for n := 1; n < MaxTemplates; n++ {
		create(t, b, fmt.Sprint("n", n), fmt.Sprintf("n%d://{x}", n), "")
	}
	if _, err := b.Create(Template{Name: "more", URITemplate: "more://{x}"}); !errors.Is(err, ErrTooMany) {
		t.Errorf("one too many: %v", err)
	}
	blocked := Open("/dev/null/templates", slog.New(slog.DiscardHandler))
	if _, err := blocked.Create(Template{Name: "a", URITemplate: "a://{x}"}); err == nil || blocked.Len() != 0 {
		t.Errorf("what cannot be kept: %v, %d templates", err, blocked.Len())
	}
}

// ask sends a request to a server and returns the answer.
func ask(t *testing.T, s *Server, method, params string) string {
	t.Helper()
	req := wire.NewRequest(wire.StringID("1"), method, []byte(params))
	return string(s.Serve(t.Context(), &req))
}

func TestAConnectionHearsOfWhatItSubscribedTo(t *testing.T) {
	b := Open("", nil)
	create(t, b, "note", "note://{topic}", "About {topic}.")
	s, err := NewServer(b, "1")
	if err != nil {
		t.Fatal(err)
	}
	next, stop := s.Listen()
	heard := func() string {
		t.Helper()
		messages, err := next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, m := range messages {
			all = append(all, strings.TrimPrefix(string(m), `{"jsonrpc":"2.0","method":"notifications/resources/`))
		}
		return strings.Join(all, " ")
	}
	for _, c := range []struct{ method, params, want string }{
		{"initialize", `{"protocolVersion":"2025-06-18"}`, `"capabilities":{"resources":{"subscribe":true,"listChanged":true}}`},
		{"resources/templates/list", `{}`, `{"resourceTemplates":[{"uriTemplate":"note://{topic}","name":"note","mimeType":"text/plain"}]}`},
		{"resources/read", `{"uri":"note://go"}`, `{"contents":[{"uri":"note://go","mimeType":"text/plain","text":"About go."}]}`},
		{"resources/read", `{"uri":"other://go"}`, `-32002`},
		{"resources/subscribe", `{"uri":"other://go"}`, `-32002`},
		{"resources/subscribe", `{"uri":"note://go"}`, `"result":{}`},
		{"resources/subscribe", `{"uri":"note://c"}`, `"result":{}`},
		{"resources/unsubscribe", `{"uri":"note://c"}`, `"result":{}`},
	} {
		if got := ask(t, s, c.method, c.params); !strings.Contains(got, c.want) {
			t.Errorf("%s %s: %s, want %s", c.method, c.params, got, c.want)
		}
	}
	if _, err := b.Replace(Template{Name: "note", URITemplate: "note://{topic}", Text: "Anew: {topic}."}); err != nil {
		t.Fatal(err)
	}
	if got, want := heard(), `updated","params":{"uri":"note://go"}}`; got != want {
		t.Errorf("after a change: %s, want %s", got, want)
	}
	create(t, b, "more", "more://{x}", "")
	if got, want := heard(), `list_changed"}`; got != want {
		t.Errorf("after one more: %s, want %s", got, want)
	}
	if err := b.Delete("note"); err != nil {
		t.Fatal(err)
	}
	if got, want := heard(), `list_changed"} updated","params":{"uri":"note://go"}}`; got != want {
		t.Errorf("after its end: %s, want %s", got, want)
	}
	stop()
	create(t, b, "last", "last://{x}", "")
	if len(b.listeners) != 0 {
		t.Error("a connection that ended still listens")
	}
}
