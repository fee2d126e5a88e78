package app

import (
	"net/http"
	"slices"
	"strings"

	"secateur/internal/ops/ui"
)

// cors lets the web pages of some origins read our answers (the Fetch standard's CORS protocol). Browsers hold back what
// carries no such leave, so for every other origin nothing is said, and of the dashboard to none. Whether a request is let in is the guard's to decide,
// with or without this.
type cors struct {
	origins []string
	next    http.Handler
}

// exposed are the headers that a page may read beside the few that it always may; * is all of them, which browsers that
// are older do not know.
const exposed = "*, Mcp-Session-Id, Mcp-Protocol-Version, WWW-Authenticate, Retry-After, X-Request-Id, X-Secateur-Originals, " +
	"X-Secateur-Originals-Index, X-Secateur-Masked, X-Secateur-Tokens-Saved, X-Secateur-Bill-Ratio, X-Secateur-Unmasked"

// ServeHTTP answers the question that a browser asks before it sends a page's request, and marks the answer to that.
func (c cors) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	origin := r.Header.Get("Origin")
	if origin == "" || strings.HasPrefix(r.URL.Path, ui.Base) || !slices.ContainsFunc(c.origins, func(o string) bool { return strings.EqualFold(o, origin) }) {
		c.next.ServeHTTP(w, r)
		return
	}
	if method := r.Header.Get("Access-Control-Request-Method"); r.Method == http.MethodOptions && method != "" {
		preflight(w.Header(), r.Header, origin)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	c.next.ServeHTTP(&corsWriter{ResponseWriter: w, origin: origin}, r)
}

// preflight says what a page may send: every method we have, and the headers it asked for.
func preflight(answer, asked http.Header, origin string) {
	answer.Set("Access-Control-Allow-Origin", origin)
	answer.Set("Access-Control-Allow-Methods", "GET, POST, PUT, DELETE")
	answer.Set("Access-Control-Max-Age", "600")
	if names := asked.Get("Access-Control-Request-Headers"); names != "" {
		answer.Set("Access-Control-Allow-Headers", names)
	}
	if asked.Get("Access-Control-Request-Private-Network") == "true" { // the page came from elsewhere, we are on this machine
		answer.Set("Access-Control-Allow-Private-Network", "true")
	}
	answer["Vary"] = []string{"Origin, Access-Control-Request-Headers, Access-Control-Request-Private-Network"}
}

// corsWriter gives an answer its leave when it is sent: until then the handler may still copy a provider's headers over
// ours, and what that one allows its own pages is not ours to pass on.
type corsWriter struct {
	http.ResponseWriter
	origin string
	sent   bool
}

func (w *corsWriter) WriteHeader(status int) {
	if !w.sent {
		w.sent = status >= http.StatusOK
		h := w.Header()
		for name := range h {
			if strings.HasPrefix(name, "Access-Control-") {
				delete(h, name)
			}
		}
		h.Set("Access-Control-Allow-Origin", w.origin)
		h.Set("Access-Control-Expose-Headers", exposed)
		h.Add("Vary", "Origin")
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *corsWriter) Write(b []byte) (int, error) {
	if !w.sent {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(b)
}

// FlushError is what a ResponseController asks for to send what was written.
func (w *corsWriter) FlushError() error {
	if !w.sent {
		w.WriteHeader(http.StatusOK)
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap leads a ResponseController to what can do more.
func (w *corsWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
