package ui

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"secateur/internal/access"
)

const page = "<!doctype html><title>page</title>"

// dashboard returns one that accepts the token "good". The token "weak" belongs to a caller who may
// not use it.
func dashboard(t *testing.T, log io.Writer) *Dashboard {
	t.Helper()
	d, err := New(Options{
		Sessions: &Sessions{},
		Files: fstest.MapFS{
			"index.html":         {Data: []byte(page)},
			"favicon.svg":        {Data: []byte("<svg/>")},
			"assets/main-abc.js": {Data: []byte(strings.Repeat("console.log(1);\n", 100))},
		},
		SignIn: func(_ *http.Request, token string) (*access.Principal, access.Verdict) {
			switch token {
			case "good":
				return access.TokenHolder(), access.Verdict{}
			case "weak":
				return nil, access.Verdict{Kind: access.Forbidden}
			}
			return nil, access.Verdict{Kind: access.Unauthorized}
		},
		Refuse: func(w http.ResponseWriter, v access.Verdict) {
			w.WriteHeader(map[access.Kind]int{access.Forbidden: 403, access.Unauthorized: 401}[v.Kind])
		},
		Reject: func(w http.ResponseWriter, detail string) { http.Error(w, detail, http.StatusBadRequest) },
		Log:    slog.New(slog.NewTextHandler(log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func ask(h http.HandlerFunc, method, path, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://127.0.0.1:8000"+path, strings.NewReader(body))
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h(w, r)
	return w
}

func TestFiles(t *testing.T) {
	d := dashboard(t, io.Discard)
	for path, want := range map[string]struct {
		status       int
		kind, cached string
	}{
		"/ui/":                   {200, "text/html; charset=utf-8", "no-cache"},
		"/ui/live":               {200, "text/html; charset=utf-8", "no-cache"},
		"/ui/cuts/prn_1":         {200, "text/html; charset=utf-8", "no-cache"},
		"/ui/favicon.svg":        {200, "image/svg+xml", "no-cache"},
		"/ui/assets/main-abc.js": {200, "text/javascript; charset=utf-8", "public, max-age=31536000, immutable"},
		"/ui/assets/gone":        {404, "text/plain; charset=utf-8", ""},
		"/ui/../secret.txt":      {404, "text/plain; charset=utf-8", ""},
	} {
		w := ask(d.ServeFile, "GET", path, "")
		if h := w.Header(); w.Code != want.status || h.Get("Content-Type") != want.kind || h.Get("Cache-Control") != want.cached {
			t.Errorf("%s: %d %q %q, want %v", path, w.Code, h.Get("Content-Type"), h.Get("Cache-Control"), want)
		}
		for name, value := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY"} {
			if got := w.Header().Get(name); got != value {
				t.Errorf("%s: %s = %q", path, name, got)
			}
		}
	}
}

// A browser with a current copy gets 304. With gzip support it gets the compressed file, else the
// file itself.
func TestFilesTravelLight(t *testing.T) {
	d := dashboard(t, io.Discard)
	const script = "/ui/assets/main-abc.js"
	whole := ask(d.ServeFile, "GET", script, "")
	if again := ask(d.ServeFile, "GET", script, "", "If-None-Match", whole.Header().Get("ETag")); again.Code != http.StatusNotModified || again.Body.Len() > 0 {
		t.Errorf("asked for again: %d, %d bytes", again.Code, again.Body.Len())
	}
	for header, zipped := range map[string]bool{"gzip, br": true, "br": false, "gzip;q=0": false, "gzip; q=0.5": true, "": false} {
		w := ask(d.ServeFile, "GET", script, "", "Accept-Encoding", header)
		body := w.Body.Bytes()
		if (w.Header().Get("Content-Encoding") == "gzip") != zipped {
			t.Errorf("%q: Content-Encoding %q", header, w.Header().Get("Content-Encoding"))
		}
		if zipped {
			z, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			if body, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(body, whole.Body.Bytes()) {
			t.Errorf("%q: another text", header)
		}
	}
}

// The policy allows only our own files, and names the report path.
func TestPolicy(t *testing.T) {
	csp := ask(dashboard(t, io.Discard).ServeFile, "GET", "/ui/", "").Header().Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'", "report-uri /ui/csp-report"} {
		if !strings.Contains(csp, want) {
			t.Errorf("%q lacks %s", csp, want)
		}
	}
	for _, never := range []string{"unsafe", "http:", "https:", "*", "data:", "blob:"} {
		if strings.Contains(csp, never) {
			t.Errorf("%q has %s", csp, never)
		}
	}
}

func TestSignIn(t *testing.T) {
	d := dashboard(t, io.Discard)
	for _, c := range []struct {
		rule, body, kind string
		status           int
	}{
		{"a good token", `{"token":"good"}`, "application/json", 200},
		{"blanks around it are a paste's", `{"token":" good\n"}`, "application/json; charset=utf-8", 200},
		{"a bad one", `{"token":"bad"}`, "application/json", 401},
		{"one without the role", `{"token":"weak"}`, "application/json", 403},
		{"none", `{}`, "application/json", 400},
		{"what a form of another site could send", `{"token":"good"}`, "text/plain", 400},
		{"no JSON", `token=good`, "application/json", 400},
		{"one that is too long", `{"token":"` + strings.Repeat("x", maxToken+1) + `"}`, "application/json", 400},
	} {
		w := ask(d.SignIn, "POST", "/ui/session", c.body, "Content-Type", c.kind)
		if w.Code != c.status || (len(w.Result().Cookies()) == 1) != (c.status == 200) {
			t.Errorf("%s: %d, cookies %v, want %d", c.rule, w.Code, w.Result().Cookies(), c.status)
		}
	}
	w := ask(d.SignIn, "POST", "/ui/session", `{"token":"good"}`, "Content-Type", "application/json")
	c := w.Result().Cookies()[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/api/v1" || c.Domain != "" || c.MaxAge != int(longestSession.Seconds()) || c.Secure {
		t.Errorf("cookie %v", c)
	}
	var said struct {
		Key string `json:"key"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &said); err != nil || said.Key == "" || strings.Contains(c.Value+said.Key, "good") {
		t.Fatalf("the answer is %s, the cookie %v, want halves that tell nothing", w.Body, c)
	}
	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8000/api/v1/whoami", nil)
	token := func() string {
		token, _ := d.opt.Sessions.Token(r)
		return token
	}
	if r.AddCookie(c); token() != "" {
		t.Errorf("the cookie alone: %q", token())
	}
	if r.Header.Set(KeyHeader, said.Key); token() != "good" {
		t.Errorf("both halves: %q", token())
	}
	if r.Header.Set(KeyHeader, said.Key+"x"); token() != "" {
		t.Errorf("another key: %q", token())
	}
	r.Header.Set(KeyHeader, said.Key)
	if r.Header.Set("Cookie", c.Name+"=other"); token() != "" {
		t.Errorf("the key alone: %q", token())
	}
	r.Header.Set("Cookie", c.Name+"="+c.Value)
	r.Host = "127.0.0.1:8001" // the cookie of a program on another port
	if token() != "" {
		t.Errorf("on another port: %q", token())
	}
	r.Host = "127.0.0.1:8000"
	_, ended := d.opt.Sessions.Token(r)
	if out := ask(d.SignOut, "DELETE", "/ui/session", "", KeyHeader, said.Key).Result().Cookies(); len(out) != 1 || out[0].Name != c.Name || out[0].Path != c.Path || out[0].MaxAge >= 0 || out[0].Value != "" {
		t.Errorf("after a sign-out: %v", out)
	}
	if token() != "" || ended.Err() == nil {
		t.Errorf("after a sign-out the session opens %q, and what it has open goes on: %v", token(), ended.Err() == nil)
	}
}

// Sessions expire, and their number is limited.
func TestSessionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all Sessions
		shown := func(cookie, key string) string {
			r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8000/api/v1/whoami", nil)
			r.Header.Set("Cookie", "secateur-8000="+cookie)
			r.Header.Set(KeyHeader, key)
			token, _ := all.Token(r)
			return token
		}
		first, firstKey := all.open("first", time.Now(), time.Minute)
		time.Sleep(time.Second)
		second, secondKey := all.open("second", time.Now(), time.Minute)
		for i := range maxSessions - 1 {
			all.open(fmt.Sprint(i), time.Now(), time.Hour)
		}
		if shown(first, firstKey) != "" || shown(second, secondKey) != "second" || len(all.all) != maxSessions {
			t.Errorf("%d sessions, want %d without the first", len(all.all), maxSessions)
		}
		if shown(first, secondKey) != "" || shown(second, firstKey) != "" {
			t.Error("halves of two sessions make one")
		}
		time.Sleep(time.Minute)
		if shown(second, secondKey) != "" {
			t.Error("a session lasts beyond its time")
		}
		all.open("x", time.Now(), time.Hour)
		time.Sleep(time.Hour)
		all.open("y", time.Now(), time.Hour)
		if len(all.all) != 1 {
			t.Errorf("%d sessions are kept, want the one that is good", len(all.all))
		}
	})
}

func TestSessionLastsNoLongerThanItsToken(t *testing.T) {
	now := time.Unix(1000, 0)
	for expires, want := range map[int64]time.Duration{0: longestSession, 1060: time.Minute, 900: time.Second, 1 << 40: longestSession} {
		if got := sessionLife(&access.Principal{Expires: expires}, now); got != want {
			t.Errorf("token that expires at %d: %v, want %v", expires, got, want)
		}
	}
	d := dashboard(t, io.Discard)
	d.opt.Secure = true
	if c := d.cookie(httptest.NewRequest(http.MethodPost, "/ui/session", nil), "x", 1); !c.Secure {
		t.Error("under TLS the cookie is not Secure")
	}
}

func TestOnlyOwnPagesUseTheCookie(t *testing.T) {
	for _, c := range []struct {
		method, site, origin string
		want                 bool
	}{
		{"GET", "same-origin", "", true},
		{"GET", "none", "", true},
		{"GET", "", "", true},
		{"GET", "same-site", "", false}, // a page on another port of this host
		{"GET", "cross-site", "", false},
		{"POST", "same-origin", "http://127.0.0.1:8000", true},
		{"POST", "", "http://127.0.0.1:8000", true}, // the guard has checked the origin
		{"POST", "", "", false},
		{"POST", "none", "", false},
		{"DELETE", "same-site", "http://127.0.0.1:3000", false},
		{"PUT", "cross-site", "http://127.0.0.1:8000", false},
	} {
		r := httptest.NewRequest(c.method, "/api/v1/reload", nil)
		r.Header.Set("Sec-Fetch-Site", c.site)
		r.Header.Set("Origin", c.origin)
		if got := IsOwnPage(r); got != c.want {
			t.Errorf("%s, Sec-Fetch-Site %q, Origin %q: %v, want %v", c.method, c.site, c.origin, got, c.want)
		}
	}
}

// Browser reports are logged, up to a limit.
func TestReports(t *testing.T) {
	var log bytes.Buffer
	d := dashboard(t, &log)
	report := `{"csp-report":{"effective-directive":"script-src-elem","blocked-uri":"https://evil.example/` + strings.Repeat("x", 500) + `","document-uri":"http://127.0.0.1:8000/ui/live"}}`
	for range 100 {
		if w := ask(d.Report, "POST", ReportPath, report); w.Code != http.StatusNoContent {
			t.Fatal(w.Code)
		}
	}
	if n := strings.Count(log.String(), "script-src-elem"); n == 0 || n > reportsPerMinute || strings.Contains(log.String(), strings.Repeat("x", 300)) {
		t.Errorf("%d lines of 100 reports", n)
	}
	for _, bad := range []string{"", "{}", "nonsense", `{"csp-report":{"effective-directive":"` + strings.Repeat("x", maxReport) + `"}}`} {
		if w := ask(d.Report, "POST", ReportPath, bad); w.Code != http.StatusBadRequest {
			t.Errorf("%.40q: %d", bad, w.Code)
		}
	}
}
