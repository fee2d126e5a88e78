package downstream

import (
	"net/http"
	"strings"
)

// accepts says which kinds of response a client accepts.
type accepts struct {
	json, stream bool
	// the client accepts anything and is not a browser: use a stream if nothing else fits
	all bool
}

// readAccept reads the Accept header. A client that does not name a stream gets none where JSON
// will do. A client without the header gets JSON.
func readAccept(h http.Header) accepts {
	values := h["Accept"]
	if len(values) == 0 {
		return accepts{json: true}
	}
	var a accepts
	page := false
	for _, value := range values {
		for entry := range strings.SplitSeq(value, ",") {
			kind, params, _ := strings.Cut(entry, ";")
			if isRefused(params) {
				continue
			}
			switch kind = strings.TrimSpace(kind); {
			case kind == "*/*":
				a.json, a.all = true, true
			case strings.EqualFold(kind, typeJSON), strings.EqualFold(kind, "application/*"), kind == "":
				a.json = true
			case strings.EqualFold(kind, typeStream), strings.EqualFold(kind, "text/*"):
				a.stream = true
			case strings.EqualFold(kind, "text/html"):
				page = true
			}
		}
	}
	a.all = a.all && !page // a browser would show a stream that never ends
	return a
}

// isRefused reports whether the parameters of an entry exclude it, with a weight of 0.
func isRefused(params string) bool {
	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(param, "=")
		if strings.EqualFold(strings.TrimSpace(name), "q") {
			value = strings.TrimSpace(value)
			return value != "" && strings.Trim(value, "0.") == ""
		}
	}
	return false
}

const (
	typeJSON   = "application/json"
	typeStream = "text/event-stream"
)

// isJSON reports whether a body may be JSON by its Content-Type: it says so, or is absent.
func isJSON(h http.Header) bool {
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	kind = strings.TrimSpace(kind)
	return kind == "" || strings.EqualFold(kind, typeJSON)
}
