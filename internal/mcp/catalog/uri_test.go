package catalog_test

import (
	"encoding/base64"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"secateur/internal/mcp/catalog"
)

func TestEncodeURI(t *testing.T) {
	payload := base64.StdEncoding.EncodeToString([]byte(`{"server":"everything","uri":"demo://static/1"}`))
	for _, c := range []struct{ rule, got, want string }{
		{"a resource is base64 of server and uri", catalog.EncodeURI("everything", "demo://static/1"), "proxy://resource/" + payload},
		{"ui:// stays ui://", catalog.EncodeURI("maps", "ui://view/map.html"), "ui://maps/view/map.html"},
		{"a template keeps its variables", catalog.EncodeTemplate("everything", "demo://text/{id}"), "proxy://t/everything/demo://text/{id}"},
		{"a ui:// template stays ui://", catalog.EncodeTemplate("maps", "ui://view/{id}"), "ui://maps/view/{id}"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.rule, c.got, c.want)
		}
	}
}

func TestDecodeURI(t *testing.T) {
	// A document whose encoding differs between the alphabets and needs padding.
	doc := []byte(`{"server":"s","uri":"x:/?>~ü~??"}`)
	std := base64.StdEncoding.EncodeToString(doc)
	if !strings.ContainsAny(std, "+/") || !strings.HasSuffix(std, "=") {
		t.Fatalf("%q does not show the difference", std)
	}
	wrap := func(doc string) string {
		return "proxy://resource/" + base64.StdEncoding.EncodeToString([]byte(doc))
	}
	for _, c := range []struct {
		rule, uri, server, original string
		ok                          bool
	}{
		{"standard alphabet, padded", "proxy://resource/" + std, "s", "x:/?>~ü~??", true},
		{"standard alphabet, bare", "proxy://resource/" + base64.RawStdEncoding.EncodeToString(doc), "s", "x:/?>~ü~??", true},
		{"URL alphabet, padded", "proxy://resource/" + base64.URLEncoding.EncodeToString(doc), "s", "x:/?>~ü~??", true},
		{"URL alphabet, bare", "proxy://resource/" + base64.RawURLEncoding.EncodeToString(doc), "s", "x:/?>~ü~??", true},
		{"percent escapes", "proxy://resource/" + url.QueryEscape(std), "s", "x:/?>~ü~??", true},
		{"spaces in the JSON, another order, more members", wrap(`{ "uri" : "a:b" , "x": [1], "server" : "s" }`), "s", "a:b", true},
		{"an expanded template", "proxy://t/s/demo://text/17", "s", "demo://text/17", true},
		{"ui", "ui://s/view/a", "s", "ui://view/a", true},
		{"no base64", "proxy://resource/!!!", "", "", false},
		{"bad percent escapes", "proxy://resource/%zz", "", "", false},
		{"no JSON", wrap(`server`), "", "", false},
		{"no server", wrap(`{"uri":"a:b"}`), "", "", false},
		{"no uri", wrap(`{"server":"s"}`), "", "", false},
		{"a uri that is no string", wrap(`{"server":"s","uri":1}`), "", "", false},
		{"two servers", wrap(`{"server":"s","server":"t","uri":"a:b"}`), "", "", false},
		{"something behind", wrap(`{"server":"s","uri":"a:b"}x`), "", "", false},
		{"too deep", wrap(`{"server":"s","uri":"a:b","x":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`), "", "", false},
		{"empty", "proxy://resource/", "", "", false},
		{"a template of no server", "proxy://t/", "", "", false},
		{"a server's own", "demo://static/1", "", "", false},
	} {
		t.Run(c.rule, func(t *testing.T) {
			server, original, ok := catalog.DecodeURI(c.uri)
			if ok != c.ok || ok && (server != c.server || original != c.original) {
				t.Errorf("DecodeURI(%q) = %q, %q, %v, want %q, %q, %v", c.uri, server, original, ok, c.server, c.original, c.ok)
			}
		})
	}
}

func TestURIsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		server := rapid.StringMatching(`[A-Za-z0-9_-]{1,12}`).Draw(t, "server")
		uri := anyText().Draw(t, "uri")
		for _, encoded := range []string{catalog.EncodeURI(server, uri), catalog.EncodeTemplate(server, uri)} {
			s, u, ok := catalog.DecodeURI(encoded)
			if !ok || s != server || u != uri {
				t.Errorf("DecodeURI(%q) = %q, %q, %v, want %q, %q", encoded, s, u, ok, server, uri)
			}
		}
		cat := catalog.Merge([]catalog.ServerLists{{Server: server}}, nil)
		if s, u, ok := cat.ResolveURI(catalog.EncodeURI(server, uri)); !ok || s != server || u != uri {
			t.Errorf("ResolveURI = %q, %q, %v, want %q, %q", s, u, ok, server, uri)
		}
	})
}

func FuzzDecodeURI(f *testing.F) {
	f.Add("proxy://resource/eyJzZXJ2ZXIiOiJzIiwidXJpIjoiYSJ9")
	f.Add("proxy://t/s/x")
	f.Add("ui://s/x")
	f.Fuzz(func(_ *testing.T, uri string) {
		catalog.DecodeURI(uri)
	})
}
