package ui

import (
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"secateur/internal/access"
	"secateur/internal/access/limit"
)

// Base is the base path of the dashboard.
const Base = "/ui/"

// Options configure a dashboard.
type Options struct {
	Files  fs.FS // index.html, and assets/ with content hashes in the names
	Secure bool  // served over TLS

	Sessions *Sessions // may hold sessions from before this dashboard

	// SignIn returns the principal of a token, and whether it may use the dashboard.
	SignIn func(r *http.Request, token string) (*access.Principal, access.Verdict)
	// Refuse answers an unauthorized caller, Reject an invalid request.
	Refuse func(w http.ResponseWriter, v access.Verdict)
	Reject func(w http.ResponseWriter, detail string)

	Log *slog.Logger // nil discards
}

// Dashboard serves the pages and manages sessions.
type Dashboard struct {
	opt     Options
	files   map[string]*file
	reports *limit.Local // limits logged browser reports
}

// New reads the files.
func New(opt Options) (*Dashboard, error) {
	if opt.Files == nil || opt.SignIn == nil || opt.Refuse == nil || opt.Reject == nil || opt.Sessions == nil {
		return nil, errors.New("ui: an option is missing")
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	files, err := readFiles(opt.Files)
	if err != nil {
		return nil, err
	}
	if files[indexName] == nil {
		return nil, errors.New("ui: there is no " + indexName)
	}
	return &Dashboard{opt: opt, files: files, reports: limit.PerMinute(reportsPerMinute)}, nil
}

// Redirect answers GET /.
func (d *Dashboard) Redirect(w http.ResponseWriter, r *http.Request) {
	setPolicy(w.Header())
	http.Redirect(w, r, Base, http.StatusFound)
}

// ServeFile answers GET below Base. A path without a file is a page, which the script of index.html
// shows.
func (d *Dashboard) ServeFile(w http.ResponseWriter, r *http.Request) {
	setPolicy(w.Header())
	name := strings.TrimPrefix(r.URL.Path, Base)
	f := d.files[name]
	if f == nil && path.Ext(name) == "" && !strings.HasPrefix(name, assetsPrefix) {
		f = d.files[indexName]
	}
	if f == nil {
		http.Error(w, "no such file", http.StatusNotFound)
		return
	}
	f.serve(w, r)
}

// maxSignIn limits the body of a sign-in.
const maxSignIn = 16 << 10

// SignIn answers POST /ui/session: {"token": "…"}. The response's cookie and key are the halves of
// a session.
func (d *Dashboard) SignIn(w http.ResponseWriter, r *http.Request) {
	setPolicy(w.Header())
	w.Header().Set("Cache-Control", "no-store")
	var said struct {
		Token string `json:"token"`
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxSignIn))
	if err == nil {
		err = json.Unmarshal(body, &said, json.RejectUnknownMembers(true))
	}
	said.Token = strings.TrimSpace(said.Token)
	switch {
	case err != nil || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json"):
		d.opt.Reject(w, `a sign-in is {"token": "…"} as application/json`)
		return
	case said.Token == "":
		d.opt.Reject(w, "token: missing")
		return
	case len(said.Token) > maxToken:
		d.opt.Reject(w, "token: too long")
		return
	}
	p, v := d.opt.SignIn(r, said.Token)
	if v.Kind != access.Allowed {
		d.opt.Refuse(w, v)
		return
	}
	now := time.Now()
	life := sessionLife(p, now)
	cookie, key := d.opt.Sessions.open(said.Token, now, life)
	http.SetCookie(w, d.cookie(r, cookie, int(life.Seconds())))
	w.Header().Set("Content-Type", "application/json")
	_ = json.MarshalWrite(w, struct {
		Key string `json:"key"`
	}{key}) // the client may be gone
}

// SignOut answers DELETE /ui/session. It ends the session of the request's key, with its open
// requests.
func (d *Dashboard) SignOut(w http.ResponseWriter, r *http.Request) {
	setPolicy(w.Header())
	w.Header().Set("Cache-Control", "no-store")
	d.opt.Sessions.close(r)
	http.SetCookie(w, d.cookie(r, "", -1))
	w.WriteHeader(http.StatusNoContent)
}

// Limits on browser reports: size, and number logged.
const (
	maxReport        = 8 << 10
	reportsPerMinute = 20
)

// Report answers POST /ui/csp-report, where a browser reports a violation (CSP Level 3,
// "report-uri"). It logs a limited number of them.
func (d *Dashboard) Report(w http.ResponseWriter, r *http.Request) {
	setPolicy(w.Header())
	var said struct {
		Report struct {
			Directive string `json:"effective-directive"`
			Blocked   string `json:"blocked-uri"`
			Page      string `json:"document-uri"`
			Source    string `json:"source-file"`
			Line      int    `json:"line-number"`
		} `json:"csp-report"`
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxReport))
	if err == nil {
		err = json.Unmarshal(body, &said)
	}
	told := said.Report
	if err != nil || told.Directive == "" {
		d.opt.Reject(w, `a report is {"csp-report": {"effective-directive": "…", …}}`)
		return
	}
	if _, ok := d.reports.Allow(""); ok {
		d.opt.Log.WarnContext(r.Context(), "a browser kept the dashboard from breaking its content security policy",
			"directive", clip(told.Directive), "blocked", clip(told.Blocked), "page", clip(told.Page), "source", clip(told.Source), "line", told.Line)
	}
	w.WriteHeader(http.StatusNoContent)
}

// clip shortens untrusted text for the log.
func clip(s string) string {
	const most = 200
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
