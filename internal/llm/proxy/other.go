package proxy

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"secateur/internal/access"
	"secateur/internal/front/budget"
	"secateur/internal/front/datarate"
)

// ServeOther passes any other request under /v1 to the default provider, and its response back,
// unchanged. Bodies are streamed, and an incomplete response breaks the client's connection. A
// request for one model goes to the model's provider. A request of a particular format goes to a
// provider of that format. Other spellings of an endpoint's path are served by that endpoint.
func (p *Proxy) ServeOther(w http.ResponseWriter, r *http.Request, principal *access.Principal) {
	if _, ok := endpointOf(r.URL.Path); ok {
		p.Serve(w, r, principal)
		return
	}
	entry, ok := p.admit(w, r, principal)
	if !ok {
		return
	}
	defer entry.Leave()
	p.pass(w, r, principal)
}

// pass forwards a request under /v1.
func (p *Proxy) pass(w http.ResponseWriter, r *http.Request, principal *access.Principal) {
	below := strings.TrimPrefix(r.URL.EscapedPath(), "/v1")
	if name, ok := strings.CutPrefix(r.URL.Path, "/v1/models/"); ok && name != "" && r.Method == http.MethodGet {
		unread := p.opt.Admission.Rules() != nil && !isPlainPath(strings.NewReplacer("%2F", "/", "%2f", "/").Replace(r.URL.EscapedPath()))
		if unread || !p.maySee(principal, r, name) {
			p.refuse(w, r, nil, p.modelNotFound(name))
			return
		}
		p.serveModel(w, r, name, below, principal)
		return
	}
	to := p.fallbackIn(formatOf(r), isSignedIn(r))
	if to != nil && p.isForeign(to, r.Header) {
		p.refuse(w, r, to, wrongLogin(to))
		return
	}
	permit, bad := p.askRoute(w, r, principal)
	if bad != nil {
		p.refuse(w, r, nil, bad)
		return
	}
	passed := int64(0)
	defer func() { permit.Done(int(max(0, r.ContentLength)), int(passed)) }()
	passed = p.passOn(w, r, to, below, nil)
}

// passOn forwards a request to a provider (nil: none) at a path below its base. It returns the size
// of the response. absent replaces the provider's response for an unknown model; nil: that passes
// too.
func (p *Proxy) passOn(w http.ResponseWriter, r *http.Request, to *provider, below string, absent *failure) (passed int64) {
	began := time.Now()
	if to == nil {
		p.refuse(w, r, nil, cmp.Or(absent, noProvider()))
		return 0
	}
	if climbs(r.URL.Path) || below != "" && below[0] != '/' {
		p.refuse(w, r, to, &failure{
			status: http.StatusNotFound, kind: invalidRequest, code: "unknown_url", outcome: badRequest,
			message: "There is nothing at this path.",
		})
		return 0
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	req := &http.Request{
		Method: r.Method, URL: to.url(below, r.URL.RawQuery), Header: p.headersFor(to, p.shownTo(to, r)), ContentLength: r.ContentLength,
	}
	if r.ContentLength != 0 {
		req.Body = budget.Uncounted(r.Body)
		defer r.Body.Close()
		// The response may begin while the body is still being sent.
		_ = http.NewResponseController(w).EnableFullDuplex() // HTTP/2 always is
	}
	if wantsWebSocket(r) {
		req.Header["Connection"], req.Header["Upgrade"] = []string{"Upgrade"}, []string{webSocket}
	}
	res, err := p.send(ctx, to, req)
	if err != nil {
		if r.Context().Err() != nil {
			p.ended(ctx, to, clientGone)
			panic(http.ErrAbortHandler) // the client is gone
		}
		if errors.Is(err, datarate.ErrTooSlow) || errors.Is(err, access.ErrBodyHash) {
			p.refuse(w, r, to, bodyBroken(err))
			return 0
		}
		p.opt.Log.WarnContext(ctx, "provider did not answer", "provider", to.name, "err", err)
		p.refuse(w, r, to, unanswered(to, err))
		return 0
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusSwitchingProtocols {
		p.ended(ctx, to, p.join(ctx, w, res))
		return 0
	}
	if absent != nil && saysNoModel(res) {
		p.refuse(w, r, to, absent)
		return 0
	}
	a := answer{from: to, format: formatOf(r), res: res, patience: p.opt.Patience, giveUp: cancel}
	ended := a.pass(ctx, w)
	p.ended(ctx, to, ended)
	p.metrics.took(to, began)
	if ended.broken() {
		panic(http.ErrAbortHandler) // an incomplete response must not look complete
	}
	return a.passed
}

// climbs reports whether a path has "." or ".." segments.
func climbs(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if part == ".." || part == "." {
			return true
		}
	}
	return false
}
