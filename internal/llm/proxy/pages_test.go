package proxy_test

import (
	"io"
	"net/http"
	"testing"
)

func TestAProviderHasNoPagesInOurOrigin(t *testing.T) {
	const page = `<script>fetch("/api/v1/servers")</script>`
	for kind, want := range map[string]string{
		"text/html":                 "text/plain; charset=utf-8",
		"Text/HTML; charset=latin1": "text/plain; charset=utf-8",
		"application/xhtml+xml":     "text/plain; charset=utf-8",
		"image/svg+xml":             "text/plain; charset=utf-8",
		"text/xml":                  "text/plain; charset=utf-8",
		"application/json":          "application/json",
		"text/event-stream":         "text/event-stream",
		"image/png":                 "image/png",
	} {
		for _, status := range []int{http.StatusOK, http.StatusBadGateway} {
			p := newProvider(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", kind)
				w.Header().Add("Set-Cookie", "secateur_session=theirs; Path=/")
				w.Header().Add("Clear-Site-Data", `"*"`)
				w.WriteHeader(status)
				_, _ = io.WriteString(w, page)
			})
			px := newProxy(t, nil, one(p))
			for _, way := range [][2]string{{http.MethodPost, "/v1/chat/completions"}, {http.MethodGet, "/v1/files/x/content"}, {http.MethodGet, "/v1/models/x"}} {
				got := px.do(t, way[0], way[1], `{"model":"m","messages":[]}`)
				if h := got.header; h.Get("Content-Type") != want || h.Get("Set-Cookie")+h.Get("Clear-Site-Data") != "" ||
					h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Content-Security-Policy") != "sandbox" {
					t.Errorf("%s as %s: %v", way[1], kind, h)
				}
				if got.status != status || got.body != page {
					t.Errorf("%s as %s: %d %s", way[1], kind, got.status, got.body)
				}
			}
		}
	}
}
