package catalog_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"secateur/internal/mcp/catalog"
	"secateur/internal/rawjson"
)

var (
	contract = catalog.Naming{Separator: "::"}
	dashed   = catalog.Naming{Separator: "-", MaxLength: 20, Punctuation: "_-"}
)

func TestNames(t *testing.T) {
	long := strings.Repeat("x", 40)
	for _, c := range []struct {
		rule   string
		naming catalog.Naming
		server string
		tools  []string
		want   []string
	}{
		{"the contract", contract, "files", []string{"read", "a::b", "größe"}, []string{"files::read", "files::a::b", "files::größe"}},
		{"another separator", catalog.Naming{Separator: "__"}, "files", []string{"read"}, []string{"files__read"}},
		{"what a client refuses is replaced", dashed, "files", []string{"a.b/c", "größe"}, []string{"files-a_b_c", "files-gr__e"}},
		{"of two that would be equal the later has a hash", dashed, "s", []string{"a.b", "a_b", "a/b"}, []string{"s-a_b", "s-a_b_553389c5", "s-a_b_d19f8727"}},
		{"a name of just the length stays", dashed, "s", []string{strings.Repeat("y", 18)}, []string{"s-" + strings.Repeat("y", 18)}},
		{"a longer one is cut and has a hash", dashed, "s", []string{long}, []string{"s-xxxxxxxxx_d4b1ab6a"}},
		{"no two long names are alike", dashed, "s", []string{long, long + "y"}, []string{"s-xxxxxxxxx_d4b1ab6a", "s-xxxxxxxxx_05d4b88b"}},
		{
			"a long id is cut, not the tool's name",
			catalog.Naming{Separator: "-", MaxLength: 48, Punctuation: "_-"},
			"github-com-modelcontextprotocol-servers-tree-main-src-filesystem",
			[]string{"write_file", "read_file", strings.Repeat("w", 35)},
			[]string{"github-com-mo_bc70a436-write_file", "github-com-mo_bc70a436-read_file", "git_bc70a436-" + strings.Repeat("w", 35)},
		},
		{
			"the length counts characters",
			catalog.Naming{Separator: "::", MaxLength: 16},
			"s",
			[]string{strings.Repeat("é", 13), strings.Repeat("é", 14)},
			[]string{"s::" + strings.Repeat("é", 13), "s::éééé_be077c34"},
		},
		{"a length that leaves no room counts as the least there is", catalog.Naming{Separator: "-", MaxLength: 3}, "s", []string{long}, []string{"s-xxxxx_d4b1ab6a"}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			cat := catalog.Merge([]catalog.ServerLists{{Server: c.server, Tools: tools(c.tools...)}}, nil)
			got := listed(t, cat.View(c.naming), catalog.Tools, "name")
			if !slices.Equal(got, c.want) {
				t.Errorf("names = %q, want %q", got, c.want)
			}
		})
	}
}

func TestAServerMoreRenamesNothingBeforeItButWhatIsNowItsOwn(t *testing.T) {
	a := catalog.ServerLists{Server: "a", Tools: tools("x", "b-x")}
	ab := catalog.ServerLists{Server: "a-b", Tools: tools("x")}
	alone := listed(t, catalog.Merge([]catalog.ServerLists{a}, nil).View(dashed), catalog.Tools, "name")
	both := listed(t, catalog.Merge([]catalog.ServerLists{a, ab}, nil).View(dashed), catalog.Tools, "name")
	if both[0] != alone[0] {
		t.Errorf("a's x is %q with a-b, %q without", both[0], alone[0])
	}
	if both[2] != "a-b-x" || !strings.HasPrefix(both[1], "a-b-x_") {
		t.Errorf("names = %q, want a hash on a's b-x, which looks like a tool of a-b", both)
	}
}

// randomServers generates a few servers with awkward ids and names.
func randomServers(t *rapid.T) []catalog.ServerLists {
	ids := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "a-b", "a_", "a__b", "A", "b", "0", "everything-and-more-of-it"}), 1, 5, rapid.ID).Draw(t, "ids")
	name := rapid.OneOf(
		rapid.SampledFrom([]string{"x", "_x", "b-x", "-x", "b", "b::x", "a::x", "x.y", "x_y", "x/y", strings.Repeat("long", 20), strings.Repeat("long", 20) + "!"}),
		anyText().Filter(func(s string) bool { return s != "" }),
	)
	var lists []catalog.ServerLists
	for _, id := range ids {
		lists = append(lists, catalog.ServerLists{
			Server:  id,
			Tools:   tools(rapid.SliceOfNDistinct(name, 0, 6, rapid.ID).Draw(t, "tools")...),
			Prompts: tools(rapid.SliceOfNDistinct(name, 0, 3, rapid.ID).Draw(t, "prompts")...),
		})
	}
	return lists
}

func namingOf(t *rapid.T) catalog.Naming {
	return rapid.SampledFrom(append(catalog.NewNames(catalog.Default()).All(), dashed,
		catalog.Naming{Separator: "", MaxLength: 16, Punctuation: "_"}, catalog.Naming{Separator: "::", MaxLength: 24})).Draw(t, "naming")
}

func TestEveryListedNameFitsAndResolves(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		lists := randomServers(rt)
		cat := catalog.Merge(lists, nil)
		if p := cat.Problems(); len(p) > 0 {
			rt.Fatalf("problems: %v", p)
		}
		v := cat.View(namingOf(rt))
		for _, l := range []catalog.List{catalog.Tools, catalog.Prompts} {
			got := rawNames(t, v, l)
			at := 0
			for _, s := range lists {
				own, resolve := s.Tools, v.ResolveTool
				if l == catalog.Prompts {
					own, resolve = s.Prompts, v.ResolvePrompt
				}
				for _, item := range own {
					want := nameIn(item)
					server, original, ok := resolve(got[at])
					if !ok || server != s.Server || original != want {
						rt.Errorf("resolve(%q) = %q, %q, %v, want %q, %q", got[at], server, original, ok, s.Server, want)
					}
					checkFits(rt, v.Naming(), got[at])
					at++
				}
			}
			if distinct := slices.Compact(slices.Sorted(slices.Values(got))); len(distinct) != len(got) || at != len(got) {
				rt.Errorf("%d names for %d items, %d of them distinct: %q", len(got), at, len(distinct), got)
			}
		}
	})
}

func checkFits(t *rapid.T, n catalog.Naming, name string) {
	if n.MaxLength > 0 && rawjson.Chars(name) > n.MaxLength {
		t.Errorf("%q is longer than %d", name, n.MaxLength)
	}
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	strange := func(r rune) bool { return !strings.ContainsRune(plain+n.Punctuation, r) }
	if n.Punctuation != "" && strings.ContainsFunc(name, strange) {
		t.Errorf("%q has more than letters, digits and %q in it", name, n.Punctuation)
	}
}

// nameIn returns the name in an item built by tools.
func nameIn(item []byte) string {
	raw := item[len(`{"name":`):]
	return rawjson.Unquote(raw[:rawjson.StringEnd(raw, 0)])
}

// rawNames returns the names of a list without a conversion that would change them.
func rawNames(t *testing.T, v *catalog.View, l catalog.List) []string {
	t.Helper()
	var names []string
	for _, item := range pages(t, v, l, 2) {
		names = append(names, nameIn(item))
	}
	return names
}
