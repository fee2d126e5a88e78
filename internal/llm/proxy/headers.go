package proxy

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"secateur/internal/llm/chat"
	"secateur/internal/secret"
)

// Response headers that say what was done to a chat request.
const (
	headerMasked = "X-Secateur-Masked"       // tool results sent masked
	headerSaved  = "X-Secateur-Tokens-Saved" // estimated, in this request
	// Spent over the pass-through cost, of the conversation so far.
	headerRatio = "X-Secateur-Bill-Ratio"
	// Where the true ratio lies with about 95 %, if it may be off by more than exactly.
	headerRange = "X-Secateur-Bill-Ratio-Range"
	// Ids of originals that the remaining text does not name.
	headerIDs = "X-Secateur-Originals"
	// Why nothing more was masked although there was something.
	headerWhy = "X-Secateur-Unmasked"
	// Calls in which the model has written a marker of ours.
	headerImitated = "X-Secateur-Imitated"
)

// ours is the prefix of headers that only we may set. A provider must not be able to forge them,
// and a client's are only for us.
const ours = "X-Secateur-"

func withoutOurs(h http.Header) {
	for name := range h {
		if strings.HasPrefix(http.CanonicalHeaderKey(name), ours) {
			delete(h, name)
		}
	}
}

// effect holds the values of these headers.
type effect struct {
	masked int
	saved  int
	ratio  float64
	// Where the true ratio lies; both 0: it is exact.
	low, high float64
	ids       []string // of originals

	barrier  chat.Barrier
	imitated int // calls with a marker that the model wrote
}

// maxListed limits the ids in a header, because clients limit the size of headers.
const maxListed = 100

// untouched is the effect on a request that was sent unchanged.
var untouched = effect{ratio: 1}

func (e effect) announce(h http.Header) {
	h.Set(headerMasked, strconv.Itoa(e.masked))
	h.Set(headerSaved, strconv.Itoa(e.saved))
	h.Set(headerRatio, strconv.FormatFloat(e.ratio, 'f', 4, 64))
	if between := e.between(); between != "" {
		h.Set(headerRange, between)
	}
	if len(e.ids) > 0 {
		h.Set(headerIDs, strings.Join(e.ids, ", "))
	}
	if e.barrier != chat.Open {
		h.Set(headerWhy, string(e.barrier))
	}
	if e.imitated > 0 {
		h.Set(headerImitated, strconv.Itoa(e.imitated))
	}
}

// rate sets the ratio of a record.
func (e *effect) rate(r *chat.Record) {
	e.ratio = r.Bill.Ratio()
	e.low, e.high = r.Range()
}

// exactly is how far the true ratio may be from the reported one without a range.
const exactly = 0.02

// between returns the range of the ratio, rounded outwards; "": it is exact.
func (e *effect) between() string {
	if e.high-e.ratio <= exactly && e.ratio-e.low <= exactly || e.high == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f-%.2f", math.Floor(100*e.low)/100, math.Ceil(100*e.high)/100)
}

// hopByHop headers belong to one connection, not to the message.
var hopByHop = map[string]bool{
	"Connection": true, "Proxy-Connection": true, "Keep-Alive": true, "Proxy-Authenticate": true,
	"Proxy-Authorization": true, "Te": true, "Trailer": true, "Transfer-Encoding": true, "Upgrade": true,
}

// copyHeaders copies the end-to-end headers. The values are shared, not copied.
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

// headersFor returns the client's headers for a provider: without our own token, and with the
// provider's key if it has one.
func (p *Proxy) headersFor(to *provider, client http.Header) http.Header {
	h := make(http.Header, len(client)+1)
	copyHeaders(h, client)
	withoutOurs(h)
	delete(h, "Content-Length") // set by the transport
	delete(h, "Expect")         // already met: the body is here
	withoutToken(h, p.opt.OwnToken)
	if !to.APIKey.IsZero() {
		to.sign(h)
	}
	if _, ok := h["User-Agent"]; !ok {
		h["User-Agent"] = []string{""} // net/http would send its own
	}
	// net/http resends requests with such a key. Under another spelling it does not.
	for _, name := range []string{"Idempotency-Key", "X-Idempotency-Key"} {
		if values, ok := h[name]; ok {
			delete(h, name)
			h[strings.ToLower(name)] = values
		}
	}
	return h
}

// sign puts the provider's key where the provider expects it, in place of the client's.
func (p *provider) sign(h http.Header) {
	if p.format == chat.Messages {
		delete(h, "Authorization") // two different credentials would be ambiguous
		h["X-Api-Key"] = []string{p.APIKey.Reveal()}
		return
	}
	h["Authorization"] = []string{"Bearer " + p.APIKey.Reveal()}
}

// withoutToken drops every value that is our own token, alone or after a scheme.
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

// credential returns the part of an Authorization value after the scheme.
func credential(value string) string {
	_, rest, _ := strings.Cut(strings.TrimSpace(value), " ")
	return strings.TrimSpace(rest)
}
