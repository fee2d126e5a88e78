package app

import (
	"net/http"
	"slices"
	"strings"

	"secateur/internal/ops/ui"
)

// cors lets web pages of the configured origins read our responses (the Fetch standard's CORS
// protocol). Browsers withhold responses without CORS headers, so other origins get none, and the
// dashboard sends none at all. The guard decides separately whether a request is let in.
type cors struct {
	origins []string
	next    http.Handler
}

// exposed lists the headers that a page may read besides the default ones. Older browsers do not
// know "*".
const exposed = "*, Mcp-Session-Id, Mcp-Protocol-Version, WWW-Authenticate, Retry-After, X-Request-Id, X-Secateur-Originals, " +
	"X-Secateur-Originals-Index, X-Secateur-Masked, X-Secateur-Tokens-Saved, X-Secateur-Bill-Ratio, X-Secateur-Bill-Ratio-Range, X-Secateur-Unmasked"

// ServeHTTP answers preflight requests and adds the CORS headers to other responses.
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

// preflight says what a page may send: all our methods, and the headers it asked for.
func preflight(answer, asked http.Header, origin string) {
	answer.Set("Access-Control-Allow-Origin", origin)
	answer.Set("Access-Control-Allow-Methods", "GET, POST, PUT, DELETE")
	answer.Set("Access-Control-Max-Age", "600")
	if names := asked.Get("Access-Control-Request-Headers"); names != "" {
		answer.Set("Access-Control-Allow-Headers", names)
	}
	// The page is from a public site, we are on this machine.
	if asked.Get("Access-Control-Request-Private-Network") == "true" {
		answer.Set("Access-Control-Allow-Private-Network", "true")
	}
	answer["Vary"] = []string{"Origin, Access-Control-Request-Headers, Access-Control-Request-Private-Network"}
}

// corsWriter sets the CORS headers when the response is sent. Until then the handler may copy a
// provider's headers, and the provider's permissions must not be passed on.
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

// FlushError flushes for a ResponseController.
func (w *corsWriter) FlushError() error {
	if !w.sent {
		w.WriteHeader(http.StatusOK)
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap returns the wrapped writer for a ResponseController.
func (w *corsWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
