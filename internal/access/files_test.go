package access_test

import (
	"testing"

	"secateur/internal/access"
)

// Some file server reads each of these as /alpha/secret: it drops the host, joins the path to its
// folder, or takes a drive for a path.
var spellings = []string{
	"file:///alpha/secret", "file:/alpha/secret", "file:////alpha/secret", "file:///./alpha/secret", "file:///alpha/./secret", "file:///alpha//secret",
	"FILE:///alpha/secret", "File:/alpha/secret", "file:///%61lpha/secret", "file:///alpha/secret?x=1", "file:///alpha/secret#x", "/alpha/secret", "/./alpha/secret",
	"file://localhost/alpha/secret", "file://LOCALHOST/alpha/secret", "file://localhost./alpha/secret", "file://localhost:80/alpha/secret", "file://127.0.0.1/alpha/secret",
	"file://[::1]/alpha/secret", "file://user@localhost/alpha/secret", "file://%6cocalhost/alpha/secret",
	"file:///beta/../alpha/secret", "file:///%2e%2e/alpha/secret", "file:///alpha%2fsecret", `file:\\\alpha\secret`, " file:///alpha/secret", "file:///alpha/secret ",

	"file://evil/alpha/secret", "FILE://evil/alpha/secret", "file://evil:80/alpha/secret", "file://user@evil/alpha/secret", "file://localhost@evil/alpha/secret",
	"file://127.1/alpha/secret", "file://0/alpha/secret", "file://[::ffff:127.0.0.1]/alpha/secret", "file://[0:0:0:0:0:0:0:1]/alpha/secret", "file://localhost.localdomain/alpha/secret",
	"file://alpha/secret", "file://./alpha/secret", "file://~/alpha/secret", "file://?/alpha/secret", "file://#/alpha/secret", "file://%20/alpha/secret",
	"file:alpha/secret", "file:./alpha/secret", "file:~/alpha/secret", "file:?/alpha/secret", "file:%20/alpha/secret",
	"alpha/secret", "./alpha/secret", "~/alpha/secret", "//alpha/secret", "//evil/alpha/secret", "//localhost/alpha/secret", "secret",
	"file%3A///alpha/secret", "file%3a/alpha/secret", "file :///alpha/secret", "<file:///alpha/secret>", "\uff46ile:///alpha/secret", "file\uff1a///alpha/secret",
	"url:file:///alpha/secret", "URL:/alpha/secret", "jar:file:///alpha/secret", "view-source:FILE:///alpha/secret",
	"C:/alpha/secret", "c:alpha/secret", "file:///C%7C/alpha/secret", "file:///c|/alpha/secret",
}

func TestADeniedFileIsDeniedInEverySpelling(t *testing.T) {
	if len(spellings) < 46 {
		t.Fatalf("%d spellings", len(spellings))
	}
	s := compile(t, false, access.Rule{Resource: globs("file:///alpha/"), Action: access.ActionDeny})
	for _, uri := range spellings {
		target := access.Target{Door: access.DoorMCP, Server: "files", Kind: access.KindResource, Name: uri}
		if s.Decide(nil, target).Allowed {
			t.Errorf("%q is allowed", uri)
		}
		if s.Explain(nil, target).Decision != access.ActionDeny {
			t.Errorf("%q is explained as allowed", uri)
		}
	}
}

func TestOtherURIsStayAllowedBesideARuleAboutFiles(t *testing.T) {
	for _, c := range []struct {
		rule    string
		denied  string
		allowed []string
	}{
		{"what means one file or none", "file:///alpha/", []string{
			"file:///beta/secret", "/beta/secret", "file:///", "file://", "file:", "ui://server/page.html", "https://evil/alpha/secret", "mailto:a@b", "web://https://x/a",
			"note:alpha/secret", "profile:///alpha/secret", "file:///a|b", "file:///files:/x",
		}},
		{"rules that are not about files do not judge them", "ui://", []string{"file://evil/alpha/secret", "file:alpha/secret", "alpha/secret", "c:/a"}},
	} {
		s := compile(t, false, access.Rule{Resource: globs(c.denied), Action: access.ActionDeny})
		for _, uri := range c.allowed {
			if d := s.Decide(nil, access.Target{Kind: access.KindResource, Name: uri}); !d.Allowed {
				t.Errorf("%s: %q is denied by %s", c.rule, uri, d.Rule)
			}
		}
	}
}

func TestAHostThatARuleNamesIsRead(t *testing.T) {
	s := compile(t, true,
		access.Rule{Resource: globs("file:///alpha/"), Action: access.ActionDeny},
		access.Rule{Resource: globs("file://nas/share/", "notes/"), Action: access.ActionAllow})
	for uri, want := range map[string]bool{
		"file://nas/share/a": true, "file://NAS/share/a": true, "notes/a": true,
		"file://nas/alpha/secret": false, "file://other/share/a": false, "alpha/notes/": false,
	} {
		if got := s.Decide(nil, access.Target{Kind: access.KindResource, Name: uri}).Allowed; got != want {
			t.Errorf("%q: %v, want %v", uri, got, want)
		}
	}
}
