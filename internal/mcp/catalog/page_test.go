package catalog_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"secateur/internal/mcp/catalog"
)

func seven() *catalog.View {
	return catalog.Merge([]catalog.ServerLists{
		{Server: "a", Tools: tools("1", "2", "3", "4")}, {Server: "b", Tools: tools("5", "6", "7")},
	}, nil).For("")
}

func encoded(doc string) string { return base64.StdEncoding.EncodeToString([]byte(doc)) }

func TestPages(t *testing.T) {
	generation := seven().Generation(catalog.Tools)
	at := func(offset int) string {
		return encoded(fmt.Sprintf(`{"offset":%d,"generation":%q}`, offset, generation))
	}
	for _, c := range []struct {
		rule   string
		params string
		size   int
		count  int
		first  string
		next   string
	}{
		{"no params", ``, 1000, 7, "a::1", ""},
		{"all on a page", `{}`, 7, 7, "a::1", ""},
		{"no size is no bound", `{}`, 0, 7, "a::1", ""},
		{"a size beyond all measure", `{}`, math.MaxInt, 7, "a::1", ""},
		{"the first page", `{}`, 3, 3, "a::1", at(3)},
		{"the next page", `{"cursor":"` + at(3) + `"}`, 3, 3, "a::4", at(6)},
		{"the last page", `{"cursor":"` + at(6) + `"}`, 3, 1, "b::7", ""},
		{"the last page of a size beyond all measure", `{"cursor":"` + at(6) + `"}`, math.MaxInt, 1, "b::7", ""},
		{"behind the last", `{"cursor":"` + at(7) + `"}`, 3, 0, "", ""},
		{"a limit", `{"limit":2}`, 1000, 2, "a::1", at(2)},
		{"a limit with a cursor", `{"limit":2,"cursor":"` + at(4) + `"}`, 1000, 2, "b::5", at(6)},
		{"a limit above the page", `{"limit":100}`, 3, 3, "a::1", at(3)},
		{"a limit as JSON may write it", `{"limit":2.0e0}`, 1000, 2, "a::1", at(2)},
		{"a limit beyond all measure", `{"limit":1e400}`, 1000, 7, "a::1", ""},
		{"a limit of nothing is none", `{"limit":0}`, 1000, 7, "a::1", ""},
		{"null is absent", `{"limit":null,"cursor":null}`, 1000, 7, "a::1", ""},
		{"a bare offset", `{"cursor":"` + encoded(`{"offset":5}`) + `"}`, 1000, 2, "b::6", ""},
		{"a bare offset with a space, as others write it", `{"cursor":"` + encoded(`{"offset": 5}`) + `"}`, 1000, 2, "b::6", ""},
		{"a cursor without padding", `{"cursor":"` + base64.RawURLEncoding.EncodeToString([]byte(`{"offset":5 }`)) + `"}`, 1000, 2, "b::6", ""},
	} {
		t.Run(c.rule, func(t *testing.T) {
			ask, err := catalog.ReadAsk([]byte(c.params))
			if err != nil {
				t.Fatal(err)
			}
			p, err := seven().Page(catalog.Tools, ask, c.size)
			if err != nil {
				t.Fatal(err)
			}
			var result struct {
				Tools []struct {
					Name string `json:"name"`
				} `json:"tools"`
				Next *string `json:"nextCursor"`
			}
			raw := p.AppendResult(nil, "")
			if err := json.Unmarshal(raw, &result); err != nil {
				t.Fatalf("%s: %v", raw, err)
			}
			if p.Count != c.count || len(result.Tools) != c.count || p.Next != c.next {
				t.Errorf("Page = %d items, next %q, want %d, %q", p.Count, p.Next, c.count, c.next)
			}
			if c.count > 0 && result.Tools[0].Name != c.first {
				t.Errorf("the first is %q, want %q", result.Tools[0].Name, c.first)
			}
			if (result.Next != nil) != (c.next != "") {
				t.Errorf("result = %s, want a cursor: %v", raw, c.next != "")
			}
		})
	}
}

func TestBadCursors(t *testing.T) {
	for _, c := range []struct {
		rule, params, path string
		stale              bool
	}{
		{"an empty cursor", `{"cursor":""}`, "/cursor", false},
		{"garbage", `{"cursor":"garbage!"}`, "/cursor", false},
		{"base64 of no JSON", `{"cursor":"` + encoded(`x`) + `"}`, "/cursor", false},
		{"base64 of a number", `{"cursor":"` + encoded(`5`) + `"}`, "/cursor", false},
		{"no offset", `{"cursor":"` + encoded(`{}`) + `"}`, "/cursor", false},
		{"an offset below 0", `{"cursor":"` + encoded(`{"offset":-1}`) + `"}`, "/cursor", false},
		{"an offset of another kind", `{"cursor":"` + encoded(`{"offset":"1"}`) + `"}`, "/cursor", false},
		{"half an offset", `{"cursor":"` + encoded(`{"offset":1.5}`) + `"}`, "/cursor", false},
		{"two offsets", `{"cursor":"` + encoded(`{"offset":1,"offset":2}`) + `"}`, "/cursor", false},
		{"an offset past the end", `{"cursor":"` + encoded(`{"offset":8}`) + `"}`, "/cursor", false},
		{"an offset beyond all measure", `{"cursor":"` + encoded(`{"offset":1e300}`) + `"}`, "/cursor", false},
		{"another generation", `{"cursor":"` + encoded(`{"offset":1,"generation":"00"}`) + `"}`, "/cursor", true},
		{"a generation of another kind", `{"cursor":"` + encoded(`{"offset":1,"generation":5}`) + `"}`, "/cursor", true},
		{"a cursor of another kind", `{"cursor":5}`, "/cursor", false},
		{"a limit below 0", `{"limit":-1}`, "/limit", false},
		{"a limit of another kind", `{"limit":"5"}`, "/limit", false},
		{"half a limit", `{"limit":1.5}`, "/limit", false},
	} {
		t.Run(c.rule, func(t *testing.T) {
			ask, err := catalog.ReadAsk([]byte(c.params))
			if err == nil {
				_, err = seven().Page(catalog.Tools, ask, 1000)
			}
			e := paramsError(t, err)
			if e.Path != c.path || errors.Is(err, catalog.ErrStaleCursor) != c.stale {
				t.Errorf("error at %q, stale %v, want at %q, stale %v", e.Path, !c.stale, c.path, c.stale)
			}
		})
	}
}

func TestACursorOutlivesTheProcessButNotTheList(t *testing.T) {
	p, err := seven().Page(catalog.Tools, catalog.Ask{}, 3)
	if err != nil {
		t.Fatal(err)
	}
	ask := catalog.Ask{Cursor: p.Next, HasCursor: true}
	if _, err := seven().Page(catalog.Tools, ask, 3); err != nil {
		t.Errorf("the same list made anew: %v", err)
	}
	if _, err := seven().View(dashed).Page(catalog.Tools, ask, 3); err != nil {
		t.Errorf("the same list for another client: %v", err)
	}
	other := catalog.Merge([]catalog.ServerLists{{Server: "a", Tools: tools("1", "2", "3", "4", "new")}}, nil).For("")
	if _, err := other.Page(catalog.Tools, ask, 3); !errors.Is(err, catalog.ErrStaleCursor) {
		t.Errorf("another list: %v, want ErrStaleCursor", err)
	}
}

func TestPagesMakeTheWhole(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		v := catalog.Merge(randomServers(rt), nil).View(namingOf(rt))
		l := rapid.SampledFrom([]catalog.List{catalog.Tools, catalog.Prompts}).Draw(rt, "list")
		all, err := v.Page(l, catalog.Ask{}, 0)
		if err != nil {
			rt.Fatal(err)
		}
		for size := 1; size <= all.Count+1; size++ {
			var joined []byte
			for i, item := range pages(t, v, l, size) {
				if i > 0 {
					joined = append(joined, ',')
				}
				joined = append(joined, item...)
			}
			if !slices.Equal(joined, all.Items) {
				rt.Errorf("pages of %d make %q, want %q", size, joined, all.Items)
			}
		}
	})
}

func TestAppendResult(t *testing.T) {
	p, err := seven().Page(catalog.Templates, catalog.Ask{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := string(p.AppendResult([]byte("x"), `"ttlMs":0,"cacheScope":"private"`))
	if want := `x{"resourceTemplates":[],"ttlMs":0,"cacheScope":"private"}`; got != want {
		t.Errorf("AppendResult = %s, want %s", got, want)
	}
}

func TestListOf(t *testing.T) {
	for _, l := range catalog.Lists() {
		if got, ok := catalog.ListOf(l.Method()); !ok || got != l {
			t.Errorf("ListOf(%s) = %v, %v", l.Method(), got, ok)
		}
	}
	if _, ok := catalog.ListOf("tools/call"); ok {
		t.Error("ListOf(tools/call) is a list")
	}
}
