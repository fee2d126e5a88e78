package catalog_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	"pgregory.net/rapid"

	"secateur/internal/mcp/catalog"
	"secateur/internal/rawjson"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Each golden file has the servers' answers as <server>/<member>.json, in the order of the servers.
// The clients' results are want/<client>/<member>.json and want/problems.txt.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			cat := catalog.Merge(serversIn(t, archive), nil)
			for i := range archive.Files {
				f := &archive.Files[i]
				var got []byte
				switch parts := strings.Split(strings.TrimSuffix(f.Name, ".json"), "/"); {
				case f.Name == "want/problems.txt":
					for _, p := range cat.Problems() {
						got = fmt.Appendln(got, p)
					}
				case parts[0] == "want":
					p, err := cat.For(parts[1]).Page(listNamed(t, parts[2]), catalog.Ask{}, 0)
					if err != nil {
						t.Fatal(err)
					}
					got = append(p.AppendResult(nil, ""), '\n')
				default:
					continue
				}
				if *update {
					f.Data = got
				} else if !bytes.Equal(got, f.Data) {
					t.Errorf("%s:\n%swant\n%s", f.Name, got, f.Data)
				}
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func serversIn(t *testing.T, archive *txtar.Archive) []catalog.ServerLists {
	t.Helper()
	var servers []catalog.ServerLists
	for _, f := range archive.Files {
		server, member, _ := strings.Cut(strings.TrimSuffix(f.Name, ".json"), "/")
		if server == "want" {
			continue
		}
		if len(servers) == 0 || servers[len(servers)-1].Server != server {
			servers = append(servers, catalog.ServerLists{Server: server})
		}
		s := &servers[len(servers)-1]
		l := listNamed(t, member)
		page, err := catalog.ReadPage(l, bytes.TrimSpace(f.Data))
		if err != nil {
			t.Fatal(err)
		}
		*map[catalog.List]*[][]byte{
			catalog.Tools: &s.Tools, catalog.Resources: &s.Resources, catalog.Templates: &s.Templates, catalog.Prompts: &s.Prompts,
		}[l] = page.Items
	}
	return servers
}

func listNamed(t *testing.T, member string) catalog.List {
	t.Helper()
	for _, l := range catalog.Lists() {
		if l.Member() == member {
			return l
		}
	}
	t.Fatalf("no list has the member %q", member)
	return 0
}

func TestBadItemsAreLeftOut(t *testing.T) {
	good := `{"name":"good","inputSchema":{}}`
	for _, c := range []struct{ rule, item, name, reason string }{
		{"not an object", `"x"`, "#2", "not an object"},
		{"null", `null`, "#2", "not an object"},
		{"no name", `{"inputSchema":{}}`, "#2", "name is missing"},
		{"a name of another kind", `{"name":5,"inputSchema":{}}`, "#2", "name is not a string"},
		{"an empty name", `{"name":"","inputSchema":{}}`, "#2", "name is empty"},
		{"two names", `{"name":"a","name":"b","inputSchema":{}}`, "b", "name is given twice"},
		{"no schema", `{"name":"bad"}`, "bad", "inputSchema is missing"},
		{"a schema that is null", `{"name":"bad","inputSchema":null}`, "bad", "inputSchema is not an object"},
		{"a schema that is an array", `{"name":"bad","inputSchema":[]}`, "bad", "inputSchema is not an object"},
		{"a name that is taken", `{"name":"g\u006fod","inputSchema":{}}`, "good", "the server has another one of that name"},
		{"not even JSON", `{"name":"a`, "#2", "name is not a string"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			lists := []catalog.ServerLists{{Server: "s", Tools: items(good, c.item, `{"name":"after","inputSchema":{}}`)}}
			cat := catalog.Merge(lists, nil)
			want := []catalog.Problem{{Server: "s", List: catalog.Tools, Item: c.name, Reason: c.reason}}
			if got := cat.Problems(); !slices.Equal(got, want) {
				t.Errorf("Problems() = %+v, want %+v", got, want)
			}
			if got := listed(t, cat.View(contract), catalog.Tools, "name"); !slices.Equal(got, []string{"s::good", "s::after"}) {
				t.Errorf("tools = %q, want the good ones", got)
			}
		})
	}
}

func TestBadResourcesAndPromptsAreLeftOut(t *testing.T) {
	cat := catalog.Merge([]catalog.ServerLists{{
		Server:    "s",
		Resources: items(`{"name":"x"}`, `{"uri":null}`, `{"uri":"a:1"}`, `{"uri":"a:1","name":"again"}`),
		Templates: items(`{"uri":"a:{x}"}`, `{"uriTemplate":"a:{x}"}`),
		Prompts:   items(`{"title":"x"}`, `{"name":"p"}`, `{"name":"p"}`),
	}}, nil)
	var got []string
	for _, p := range cat.Problems() {
		got = append(got, p.String())
	}
	want := []string{
		`s: resource "#1": uri is missing`,
		`s: resource "#2": uri is not a string`,
		`s: resource template "#1": uriTemplate is missing`,
		`s: prompt "#1": name is missing`,
		`s: prompt "p": the server has another one of that name`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("Problems() = %q, want %q", got, want)
	}
	if n := cat.Len(catalog.Resources); n != 2 {
		t.Errorf("%d resources, want 2: one may be listed twice", n)
	}
}

// All other parts of an item keep their bytes.
func TestItemsKeepTheirBytes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		value := rapid.SampledFrom([]string{
			`12345678901234567890`, `1.0e+5`, `"\u00e9\/"`, `{"b":1,"a":2,"a":3}`, `[ 1 ,2 ]`, `null`, `{"name":"inner","uri":"inner"}`, `"\ud800"`,
		})
		key := rapid.SampledFrom([]string{`"x"`, `"_meta"`, `"description"`, `"n\u0061me2"`, `"annotations"`})
		space := rapid.SampledFrom([]string{"", " ", "\n\t"})
		var parts []string
		for range rapid.IntRange(0, 5).Draw(rt, "members") {
			parts = append(parts, key.Draw(rt, "key")+space.Draw(rt, "space")+":"+space.Draw(rt, "space")+value.Draw(rt, "value"))
		}
		parts = append(parts, `"inputSchema":{}`, `"name":"<NAME>"`, `"uri":"<URI>"`, `"uriTemplate":"<T>"`)
		parts = rapid.Permutation(parts).Draw(rt, "order")
		item := "{" + space.Draw(rt, "space") + strings.Join(parts, ","+space.Draw(rt, "space")) + "}"

		one := items(item)
		cat := catalog.Merge([]catalog.ServerLists{{Server: "s", Tools: one, Resources: one, Templates: one, Prompts: one}}, nil)
		for l, want := range map[catalog.List]string{
			catalog.Tools:     strings.Replace(item, `"<NAME>"`, `"s::<NAME>"`, 1),
			catalog.Prompts:   strings.Replace(item, `"<NAME>"`, `"s::<NAME>"`, 1),
			catalog.Resources: strings.Replace(item, `"<URI>"`, quote(catalog.EncodeURI("s", "<URI>")), 1),
			catalog.Templates: strings.Replace(item, `"<T>"`, quote(catalog.EncodeTemplate("s", "<T>")), 1),
		} {
			p, err := cat.View(contract).Page(l, catalog.Ask{}, 0)
			if err != nil || string(p.Items) != want {
				rt.Errorf("%s = %s, %v, want %s", l, p.Items, err, want)
			}
		}
	})
}

func TestAppsViewsInTools(t *testing.T) {
	cat := catalog.Merge([]catalog.ServerLists{{Server: "s", Tools: items(
		`{"_meta":{"ui":{"resourceUri":"ui://v/1","visibility":["app"]}},"name":"a","inputSchema":{}}`,
		`{"name":"b","inputSchema":{},"_meta":{"ui/resourceUri":"ui://v/2","openai/outputTemplate":"ui://v/3","uri":"ui://v/4"}}`,
	)}}, nil)
	p, err := cat.View(contract).Page(catalog.Tools, catalog.Ask{}, 0)
	want := `{"_meta":{"ui":{"resourceUri":"ui://s/v/1","visibility":["app"]}},"name":"s::a","inputSchema":{}},` +
		`{"name":"s::b","inputSchema":{},"_meta":{"ui/resourceUri":"ui://s/v/2","openai/outputTemplate":"ui://s/v/3","uri":"ui://v/4"}}`
	if err != nil || string(p.Items) != want {
		t.Errorf("tools = %s, %v, want %s", p.Items, err, want)
	}
}

func TestGenerations(t *testing.T) {
	a := catalog.ServerLists{Server: "a", Tools: tools("x", "y"), Resources: items(`{"uri":"a:1"}`)}
	b := catalog.ServerLists{Server: "b", Tools: tools("x")}
	base := catalog.Merge([]catalog.ServerLists{a, b}, nil)
	for _, c := range []struct {
		rule                   string
		other                  *catalog.Catalog
		sameTools, sameSources bool
	}{
		{"the same lists", catalog.Merge([]catalog.ServerLists{a, b}, nil), true, true},
		{"a server that lists nothing", catalog.Merge([]catalog.ServerLists{a, {Server: "c"}, b}, nil), true, true},
		{"an item that is left out", catalog.Merge([]catalog.ServerLists{a, {Server: "b", Tools: append(tools("x"), []byte(`{}`))}}, nil), true, true},
		{"a tool less", catalog.Merge([]catalog.ServerLists{{Server: "a", Tools: tools("x"), Resources: a.Resources}, b}, nil), false, true},
		{"another order", catalog.Merge([]catalog.ServerLists{b, a}, nil), false, true},
		{"another description", catalog.Merge([]catalog.ServerLists{{Server: "a", Tools: items(`{"name":"x","inputSchema":{"type":"object"},"description":"d"}`), Resources: a.Resources}, b}, nil), false, true},
		{"another server's", catalog.Merge([]catalog.ServerLists{a, {Server: "c", Tools: b.Tools}}, nil), false, true},
		{"other names", catalog.Merge([]catalog.ServerLists{a, b}, catalog.NewNames(catalog.Settings{Separator: "."})), false, true},
		{"none", nil, false, false},
	} {
		if got := base.Same(c.other, catalog.Tools); got != c.sameTools {
			t.Errorf("%s: Same(tools) = %v", c.rule, got)
		}
		if got := base.Same(c.other, catalog.Resources); got != c.sameSources {
			t.Errorf("%s: Same(resources) = %v", c.rule, got)
		}
		if !base.Same(c.other, catalog.Templates) {
			t.Errorf("%s: Same(templates) = false", c.rule)
		}
	}
}

func TestReadPage(t *testing.T) {
	for _, c := range []struct {
		rule, result string
		want         catalog.ServerPage
		err          string
	}{
		{
			"items and a cursor", `{"tools":[{"name":"a"}, {"name":"b"} ],"nextCursor":"x\u0079"}`,
			catalog.ServerPage{Items: items(`{"name":"a"}`, `{"name":"b"}`), Next: "xy", More: true, TTLMillis: -1},
			"",
		},
		{
			"an empty cursor is a cursor", `{"nextCursor":"","tools":[]}`,
			catalog.ServerPage{More: true, TTLMillis: -1},
			"",
		},
		{
			"no cursor is the end", `{"nextCursor":null,"tools":[1,"a",[2]],"ttlMs":5000,"cacheScope":"private","x":{"tools":[]}}`,
			catalog.ServerPage{Items: items(`1`, `"a"`, `[2]`), TTLMillis: 5000, Scope: "private"},
			"",
		},
		{"no list", `{"prompts":[]}`, catalog.ServerPage{}, "tools/list: the result has no tools"},
		{"a list of another kind", `{"tools":{}}`, catalog.ServerPage{}, "tools/list: tools is not an array"},
		{"no object", `[]`, catalog.ServerPage{}, "tools/list: the result is not an object"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			got, err := catalog.ReadPage(catalog.Tools, []byte(c.result))
			if c.err != "" {
				if err == nil || err.Error() != c.err {
					t.Errorf("err = %v, want %s", err, c.err)
				}
				return
			}
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("ReadPage = %+v, %v, want %+v", got, err, c.want)
			}
		})
	}
}

func FuzzMerge(f *testing.F) {
	f.Add([]byte(`{"tools":[{"name":"a","inputSchema":{},"_meta":{"ui":{"resourceUri":"ui://v"}}},{"name":1}]}`))
	f.Add([]byte(`{"tools":[{"name":"\ud800","inputSchema":{}},{"n\u0061me":"b","inputSchema":{}}]}`))
	f.Add([]byte(`{"resources":[{"uri":"a"}],"resourceTemplates":[{"uriTemplate":"a{x}"}],"prompts":[{"name":"p"}]}`))
	f.Add([]byte(`{"tools":[{"name":"a`))
	f.Fuzz(func(t *testing.T, result []byte) {
		valid := rawjson.Check(result, 10_000) == nil
		s := catalog.ServerLists{Server: "s"}
		for l, list := range map[catalog.List]*[][]byte{
			catalog.Tools: &s.Tools, catalog.Resources: &s.Resources, catalog.Templates: &s.Templates, catalog.Prompts: &s.Prompts,
		} {
			if page, err := catalog.ReadPage(l, result); err == nil {
				*list = page.Items
			}
		}
		cat := catalog.Merge([]catalog.ServerLists{s}, nil)
		for _, l := range catalog.Lists() {
			p, err := cat.For("claude-code").Page(l, catalog.Ask{}, 0)
			if err != nil {
				t.Fatal(err)
			}
			if out := p.AppendResult(nil, ""); valid && rawjson.Check(out, 10_000) != nil {
				t.Errorf("%q became %q, which is not JSON", result, out)
			}
		}
	})
}
