package catalog_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"secateur/internal/mcp/catalog"
)

func TestResolveTool(t *testing.T) {
	long := "a_name_that_is_so_long_that_it_has_to_be_cut_for_almost_every_client_there_is"
	cat := catalog.Merge([]catalog.ServerLists{
		{Server: "files", Tools: tools("read", "echo", "get.size", long, "_hidden", "hidden")},
		{Server: "files-old", Tools: tools("read", "only-here")},
		{Server: "other", Tools: tools("echo", "files-echo", "x")},
		{Server: "starting"},
		{Server: "pruner", Tools: tools("recover_text")},
	}, nil)
	cut := func(client string) string {
		name, ok := cat.For(client).ToolName("files", long)
		if !ok || name == "files::"+long {
			t.Fatalf("ToolName for %s = %q, %v", client, name, ok)
		}
		return name
	}
	for _, c := range []struct{ rule, client, name, want string }{
		{"the contract", "", "files::read", "files read"},
		{"the contract to a client that has another form", "claude-code", "files::read", "files read"},
		{"the client's own form", "claude-code", "files-read", "files read"},
		{"the client's own form of another server", "claude-code", "files-old-read", "files-old read"},
		{"another client's form", "", "files-get_size", "files get.size"},
		{"another client's separator", "claude-code", "files__read", "files read"},
		{"another client's cut name", "", cut("claude-code"), "files " + long},
		{"a cut name of the cut name's client", "Visual Studio Code", cut("Visual Studio Code"), "files " + long},
		{"a cut name of a third client", "claude-code", cut("codex"), "files " + long},
		{"the whole of a cut name", "claude-code", "files-" + long, "files " + long},
		{"a separator that nobody has", "", "files.read", "files read"},
		{"a separator of several characters", "", "files:/:read", "files read"},
		{"a name that begins like a separator", "", "files::_hidden", "files _hidden"},
		{"not a separator that can be seen in two ways", "", "files._hidden", ""},
		{"the bare name where one server has it", "", "only-here", "files-old only-here"},
		{"the bare name of an app's tool", "claude-code", "x", "other x"},
		{"not where two have it", "", "echo", ""},
		{"a form goes before a bare name", "", "files-echo", "files echo"},
		{"what a server does not list", "", "pruner::recover_range", "pruner recover_range"},
		{"what a server does not list, the client's form", "claude-code", "pruner-recover_range", "pruner recover_range"},
		{"what a server does not list, the longest id", "claude-code", "files-old-more", "files-old more"},
		{"what a server has not listed yet", "", "starting::now", "starting now"},
		{"not a server that there is not", "", "nobody::read", ""},
		{"not a server without a name", "", "files::", ""},
		{"not just a server", "", "files", ""},
		{"not nothing", "", "", ""},
		{"case matters", "", "only-Here", ""},
	} {
		t.Run(c.rule, func(t *testing.T) {
			server, original, ok := cat.For(c.client).ResolveTool(c.name)
			if got := strings.TrimSpace(server + " " + original); got != c.want || ok != (c.want != "") {
				t.Errorf("ResolveTool(%q) = %q, %v, want %q", c.name, got, ok, c.want)
			}
		})
	}
}

func TestTheContractHoldsWhateverTheSeparator(t *testing.T) {
	v := catalog.Merge([]catalog.ServerLists{{Server: "a", Tools: tools("x")}}, catalog.NewNames(catalog.Settings{Separator: "."})).For("")
	for _, name := range []string{"a.x", "a::x", "a.unlisted", "a::unlisted"} {
		if server, original, ok := v.ResolveTool(name); !ok || server != "a" || !strings.HasSuffix(name, original) {
			t.Errorf("ResolveTool(%q) = %q, %q, %v", name, server, original, ok)
		}
	}
}

func TestPromptsAreNotTools(t *testing.T) {
	v := catalog.Merge([]catalog.ServerLists{
		{Server: "a", Prompts: items(`{"name":"p"}`), Tools: tools("t")},
		{Server: "b", Tools: tools("p")},
	}, nil).For("")
	if server, original, ok := v.ResolvePrompt("p"); !ok || server != "a" || original != "p" {
		t.Errorf("ResolvePrompt(p) = %q, %q, %v", server, original, ok)
	}
	if _, _, ok := v.ResolvePrompt("t"); ok {
		t.Error("ResolvePrompt found a tool")
	}
	if name, ok := v.PromptName("a", "p"); !ok || name != "a::p" {
		t.Errorf("PromptName = %q, %v", name, ok)
	}
	if name, ok := v.ToolName("a", "p"); ok {
		t.Errorf("ToolName of a prompt = %q", name)
	}
	if name, ok := v.ToolName("c", "t"); ok {
		t.Errorf("ToolName of an unknown server = %q", name)
	}
}

// A name given to one client resolves to the same tool for all others. The exception is a client
// that knows another tool by this name.
func TestEveryFormIsUnderstoodEverywhere(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		lists := []catalog.ServerLists{
			{Server: "files", Tools: tools("read.me", "write", strings.Repeat("long_name_", 9))},
			{Server: "Web", Tools: tools("fetch/url", "write", "größe")},
		}
		cat := catalog.Merge(lists, nil)
		clients := rapid.SampledFrom([]string{"", "claude-ai", "Visual Studio Code", "codex", "gemini-cli-x"})
		from, to := cat.For(clients.Draw(rt, "from")), cat.For(clients.Draw(rt, "to"))
		for _, s := range lists {
			for _, item := range s.Tools {
				name, ok := from.ToolName(s.Server, nameIn(item))
				if !ok {
					rt.Fatalf("ToolName(%q, %q) is not listed", s.Server, nameIn(item))
				}
				server, original, ok := to.ResolveTool(name)
				if !ok || server != s.Server || original != nameIn(item) {
					rt.Errorf("ResolveTool(%q) = %q, %q, %v, want %q, %q", name, server, original, ok, s.Server, nameIn(item))
				}
			}
		}
	})
}

func TestResolveURI(t *testing.T) {
	cat := catalog.Merge([]catalog.ServerLists{
		{
			Server:    "files",
			Resources: items(`{"uri":"file:///a"}`, `{"uri":"file:///both"}`, `{"uri":"file:///twice"}`, `{"uri":"file:///twice"}`, `{"uri":"ui://view/1"}`),
			Templates: items(`{"uriTemplate":"file:///{path}"}`, `{"uriTemplate":"shared://{x}"}`, `{"uriTemplate":"{+any}"}`),
		},
		{
			Server:    "Web",
			Resources: items(`{"uri":"file:///both"}`, `{"uri":"ui://files/2"}`, `{"uri":"proxy://resource/eyJzZXJ2ZXIiOiJpbm5lciIsInVyaSI6ImE6MSJ9"}`),
			Templates: items(`{"uriTemplate":"demo://{id}"}`, `{"uriTemplate":"shared://{y}"}`),
		},
	}, nil)
	for _, c := range []struct{ rule, uri, want string }{
		{"ours", catalog.EncodeURI("files", "file:///a"), "files file:///a"},
		{"ours, of what is not listed", catalog.EncodeURI("files", "x:y"), "files x:y"},
		{"an expanded template", "proxy://t/Web/demo://17", "Web demo://17"},
		{"a template", "proxy://t/Web/demo://{id}", "Web demo://{id}"},
		{"a view", "ui://files/view/1", "files ui://view/1"},
		{"a view that is not listed", "ui://files/view/9", "files ui://view/9"},
		{"a view, its host in lower case", "ui://web/files/2", "Web ui://files/2"},
		{"a server's own view with another one's id", "ui://files/2", "Web ui://files/2"},
		{"a server's own", "file:///a", "files file:///a"},
		{"one that a server lists twice", "file:///twice", "files file:///twice"},
		{"not one that two servers list", "file:///both", ""},
		{"a server's own template", "demo://{id}", "Web demo://{id}"},
		{"what a server's template makes", "demo://17", "Web demo://17"},
		{"what a template makes that goes by its scheme alone", "file:///elsewhere", "files file:///elsewhere"},
		{"not what templates of two servers make", "shared://1", ""},
		{"not what only a template without a scheme makes", "other:1", ""},
		{"a proxy behind us has such URIs too", "proxy://resource/eyJzZXJ2ZXIiOiJpbm5lciIsInVyaSI6ImE6MSJ9", "Web proxy://resource/eyJzZXJ2ZXIiOiJpbm5lciIsInVyaSI6ImE6MSJ9"},
		{"not of a server that there is not", catalog.EncodeURI("gone", "a:1"), ""},
		{"not a template of a server that there is not", "proxy://t/gone/a:1", ""},
		{"not a view of a server that there is not", "ui://gone/a", ""},
		{"not nothing", "", ""},
	} {
		t.Run(c.rule, func(t *testing.T) {
			server, original, ok := cat.ResolveURI(c.uri)
			if got := strings.TrimSpace(server + " " + original); got != c.want || ok != (c.want != "") {
				t.Errorf("ResolveURI(%q) = %q, %v, want %q", c.uri, got, ok, c.want)
			}
		})
	}
}

func FuzzResolve(f *testing.F) {
	cat := catalog.Merge([]catalog.ServerLists{
		{Server: "a", Tools: tools("x", "_x"), Resources: items(`{"uri":"a:1"}`)},
		{Server: "a-b", Tools: tools("x"), Templates: items(`{"uriTemplate":"a:{x}"}`)},
	}, nil)
	f.Add("a-b-x", "a:1")
	f.Add("a::", "ui://a/")
	f.Fuzz(func(t *testing.T, name, uri string) {
		for _, client := range []string{"", "claude-code", name} {
			server, original, ok := cat.For(client).ResolveTool(name)
			if ok && (original == "" || server != "a" && server != "a-b") {
				t.Errorf("ResolveTool(%q) = %q, %q", name, server, original)
			}
		}
		if server, _, ok := cat.ResolveURI(uri); ok && server != "a" && server != "a-b" {
			t.Errorf("ResolveURI(%q) = %q", uri, server)
		}
	})
}

// A tool named like another server's cannot take its calls, whether that server is up or down.
func TestNobodyTakesTheCallsOfAServerThatIsAway(t *testing.T) {
	away := catalog.ServerLists{Server: "files"}
	there := catalog.ServerLists{Server: "files", Tools: tools("read_file")}
	evil := catalog.ServerLists{Server: "evil", Tools: tools("files::read_file", "files-read_file", "files__read_file", "files_read_file", "files.read_file", "harmless")}
	for _, files := range []catalog.ServerLists{away, there} {
		for _, order := range [][]catalog.ServerLists{{files, evil}, {evil, files}} {
			cat := catalog.Merge(order, nil)
			for _, client := range []string{"", "claude-code", "codex", "Visual Studio Code"} {
				v := cat.For(client)
				for _, sep := range []string{"::", "-", "__", "_", "."} {
					server, original, ok := v.ResolveTool("files" + sep + "read_file")
					if ok && (server != "files" || original != "read_file") {
						t.Errorf("files%sread_file of client %q goes to %s %s", sep, client, server, original)
					}
				}
				for _, own := range []string{"files::read_file", "files-read_file", "harmless"} {
					name, _ := v.ToolName("evil", own)
					if server, original, ok := v.ResolveTool(name); !ok || server != "evil" || original != own {
						t.Errorf("%q, as client %q knows evil's own %s, goes to %s %s, %v", name, client, own, server, original, ok)
					}
				}
			}
			if p := cat.LookAlikes(); len(p) != 1 || p[0].Server != "evil" || !strings.Contains(p[0].Reason, "the server files") {
				t.Errorf("problems = %v, want the tool with the other's name reported", p)
			}
		}
	}
}

// If ids may contain the separator, a-b-x is tool x of a-b, even while a-b is down and a has a b-x.
func TestANameBelongsToTheLongestID(t *testing.T) {
	cat := catalog.Merge([]catalog.ServerLists{{Server: "a", Tools: tools("b-x")}, {Server: "a-b"}}, nil)
	v := cat.For("claude-code")
	name, _ := v.ToolName("a", "b-x")
	if name == "a-b-x" {
		t.Error("a's b-x is listed as a-b-x")
	}
	if server, _, _ := v.ResolveTool(name); server != "a" {
		t.Errorf("%s goes to %q, want a", name, server)
	}
	if server, original, _ := v.ResolveTool("a-b-x"); server != "a-b" || original != "x" {
		t.Errorf("a-b-x goes to %s %s, want a-b x", server, original)
	}
}

func TestOwnerOfAName(t *testing.T) {
	servers := []string{"off", "off-road", "a_b"}
	for name, want := range map[string]string{
		"off::x": "off", "off-x": "off", "off__x": "off", "off-road-x": "off-road", "off_road__x": "off-road", "a-b-x": "a_b", "offset": "", "off": "", "x": "",
	} {
		if got := catalog.Owner(name, servers); got != want {
			t.Errorf("Owner(%q) = %q, want %q", name, got, want)
		}
	}
}
