package proxy

import (
	"net/http"
	"strconv"
	"strings"

	"secateur/internal/llm/chat"
	"secateur/internal/secret"
)

// What the answer to a chat request says about what was done to the request.
const (
	headerMasked = "X-Secateur-Masked"       // tool results that stand masked
	headerSaved  = "X-Secateur-Tokens-Saved" // estimated, in this request
	headerRatio  = "X-Secateur-Bill-Ratio"   // of the conversation so far: spent over what passing through would have cost
	headerIDs    = "X-Secateur-Originals"    // what was taken out, where the text left behind does not tell its id
	headerWhy    = "X-Secateur-Unmasked"     // why nothing more was masked, where there would have been something
)

// ours is how the names of headers begin that only we may set. A provider who could would tell clients what we did, and a
// client's are for us alone.
const ours = "X-Secateur-"

func withoutOurs(h http.Header) {
	for name := range h {
		if strings.HasPrefix(http.CanonicalHeaderKey(name), ours) {
			delete(h, name)
		}
	}
}

// effect is what these headers tell.
type effect struct {
	masked int
	saved  int
	ratio  float64
	ids    []string // of originals

	barrier chat.Barrier
}

// maxListed bounds the ids in a header: clients bound the size of headers.
const maxListed = 100

// untouched is what they tell of a request that went out as it came.
var untouched = effect{ratio: 1}

func (e effect) announce(h http.Header) {
	h.Set(headerMasked, strconv.Itoa(e.masked))
	h.Set(headerSaved, strconv.Itoa(e.saved))
	h.Set(headerRatio, strconv.FormatFloat(e.ratio, 'f', 4, 64))
	if len(e.ids) > 0 {
		h.Set(headerIDs, strings.Join(e.ids, ", "))
	}
	if e.barrier != chat.Open {
		h.Set(headerWhy, string(e.barrier))
	}
}

// hopByHop headers belong to one connection, not to the message.
var hopByHop = map[string]bool{
	"Connection": true, "Proxy-Connection": true, "Keep-Alive": true, "Proxy-Authenticate": true,
	"Proxy-Authorization": true, "Te": true, "Trailer": true, "Transfer-Encoding": true, "Upgrade": true,
}

// copyHeaders copies what is the message's own. The values are shared, not copied.
func copyHeaders(dst, src http.Header) {
	for name, values := range src {
		if !hopByHop[name] {
			dst[name] = values
		}
	}
	for _, line := range src["Connection"] {
		for name := range strings.SplitSeq(line, ",") {
			if name = strings.TrimSpace(name); name != "" {
				delete(dst, http.CanonicalHeaderKey(name))
			}
		}
	}
}

// headersFor are the client's headers as a provider gets them: without our own token, and with the provider's key
// where it has one.
func (p *Proxy) headersFor(to *provider, client http.Header) http.Header {
	h := make(http.Header, len(client)+1)
	copyHeaders(h, client)
	withoutOurs(h)
	delete(h, "Content-Length") // the transport's to say
	delete(h, "Expect")         // we have met it: the body is here
	withoutToken(h, p.opt.OwnToken)
	if !to.APIKey.IsZero() {
		to.sign(h)
	}
	if _, ok := h["User-Agent"]; !ok {
		h["User-Agent"] = []string{""} // net/http would send its own
	}
	// net/http takes a request with such a key for one that may be sent twice. Under another spelling it does not.
	for _, name := range []string{"Idempotency-Key", "X-Idempotency-Key"} {
		if values, ok := h[name]; ok {
			delete(h, name)
			h[strings.ToLower(name)] = values
		}
	}
	return h
}

// sign puts the provider's key where it looks for one, in place of the client's.
func (p *provider) sign(h http.Header) {
	if p.format == chat.Messages {
		delete(h, "Authorization") // of two that differ nobody knows which counts
		h["X-Api-Key"] = []string{p.APIKey.Reveal()}
		return
	}
	h["Authorization"] = []string{"Bearer " + p.APIKey.Reveal()}
}

// withoutToken drops every value that is our own token, alone or behind a scheme.
func withoutToken(h http.Header, own secret.Text) {
	if own.IsZero() {
		return
	}
	for name, values := range h {
		var kept []string
		for _, v := range values {
			if !own.Matches(v) && !own.Matches(credential(v)) {
				kept = append(kept, v)
			}
		}
		switch {
		case len(kept) == 0:
			delete(h, name)
		case len(kept) < len(values):
			h[name] = kept
		}
	}
}

// credential is what follows the scheme of an Authorization value.
func credential(value string) string {
	_, rest, _ := strings.Cut(strings.TrimSpace(value), " ")
	return strings.TrimSpace(rest)
}
