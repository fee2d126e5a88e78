package proxy

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"secateur/internal/access"
	"secateur/internal/access/admission"
	"secateur/internal/front/budget"
	"secateur/internal/llm/chat"
	"secateur/internal/ops/telemetry"
)

// exchange is one chat request and its response.
type exchange struct {
	p        *Proxy
	at       endpoint
	replay   bool // it gets what was sent: nothing more is masked, and nothing is booked
	to       target
	tenant   string // owner of its originals and records
	who      *access.Principal
	asked    access.Target      // the model
	conv     *chat.Conversation // nil: it could not be parsed
	size     int                // bytes of the request
	counts   bool               // a budget of the caller counts its cost
	began    time.Time
	effect   effect
	ahead    ahead
	arm      Arm          // of the comparison with untouched conversations; "": none
	counted  *counted     // the usage read before the response was passed on; nil: none
	booked   *chat.Record // the written record; nil: none
	counting *counting    // the provider's count of the unchanged request; nil: not asked for
	// It asks for a summary: its newest results are pruned, as with any first pass.
	compacts bool
	later    bool // its bookkeeping runs in the background

	body             *buffer // read by the plan
	packed, unpacked *buffer // the compressed request and its contents; nil: it was not compressed
	redact           []*access.Redaction
	limits           admission.Told // limits already reported, before the model's
	passed           int64          // bytes of the response sent to the client
	said             *guess         // estimate of the model's output; nil: not needed
	forgotten        bool           // the conversation has no record of how it was sent
	refused          bool           // the provider returned an error, so it costs nothing

	rewritten
}

// run sends the request, releases its body, and passes the response on.
func (x *exchange) run(w http.ResponseWriter, r *http.Request, body *buffer) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	defer func() { //nolint:contextcheck // it lands for those who wait, even if this request is given up
		if x.flight != nil && !x.later {
			x.land(r.Context(), r.Context().Err() != nil)
		}
	}()
	x.tellModel(ctx)
	header := x.p.headersFor(x.to.provider, r.Header)
	if x.redactsAnswer() || x.counts { // a compressed response cannot be counted as it passes
		header["Accept-Encoding"] = []string{"identity"}
	}
	body = x.pack(header, body)
	if x.plan != nil {
		x.reckon(ctx)
	}
	x.startCounting(ctx, r)
	res, err := x.p.send(ctx, x.to.provider, &http.Request{
		Method: http.MethodPost, URL: x.to.provider.url(x.at.path, r.URL.RawQuery),
		Header: header,
		Body:   body.reader(), ContentLength: int64(len(body.bytes)),
		// Called only if nothing was written.
		GetBody: func() (io.ReadCloser, error) { return body.reader(), nil },
	})
	body.release() // the transport may still hold it
	if err != nil {
		if r.Context().Err() != nil {
			x.p.ended(ctx, x.to.provider, clientGone)
			x.spend(nil, clientGone)    //nolint:contextcheck // also for a caller who has gone
			panic(http.ErrAbortHandler) // the client is gone
		}
		x.p.opt.Log.WarnContext(ctx, "provider did not answer", "provider", x.to.provider.name, "err", err)
		x.p.refuse(w, r, x.to.provider, unanswered(x.to.provider, err))
		return
	}
	defer res.Body.Close()
	x.refused = res.StatusCode/100 != 2
	if x.p.opt.Admission.HidesFrom(x.who, access.DoorChat, "") && saysNoModel(res) {
		x.limits.Restore(w.Header())
		x.p.refuse(w, r, x.to.provider, x.p.modelNotFound(x.asked.Name))
		return
	}
	if x.redactsAnswer() {
		if err := x.redactAnswer(res, budget.From(ctx)); err != nil {
			x.p.opt.Log.WarnContext(ctx, "answer cannot be redacted, so it is not passed on", "provider", x.to.provider.name, "err", err)
			x.spend(nil, brokenOff) //nolint:contextcheck // the provider has answered
			x.p.refuse(w, r, x.to.provider, notRedacted(x.to.provider))
			return
		}
	}
	x.expectRatio()
	x.readAhead(res)
	x.readRefusal(ctx, res)
	x.effect.announce(res.Header)
	a := answer{from: x.to.provider, format: x.at.format, res: res, usage: x.meter(res), patience: x.p.opt.Patience, giveUp: cancel}
	if x.flight != nil {
		a.ending = &x.flight.ending
	}
	if x.counts {
		x.said = newGuess(x.at.format, res)
		a.said = x.said
	}
	if isEventStream(res.Header) && !isEncoded(res.Header) {
		a.events = &events{format: x.at.format}
	}
	ended := a.pass(ctx, w)
	x.passed = a.passed
	x.settle(ctx, res, ended, a.usage)
	if ended.broken() && !a.told {
		panic(http.ErrAbortHandler) // an incomplete response must not look complete
	}
}

// errWrongUpgrade means that a provider switches to a protocol that was not requested.
var errWrongUpgrade = errors.New("the provider changes to a protocol that was not asked for")

// tokenError means that we have no token for a provider that needs one.
type tokenError struct{ err error }

func (e *tokenError) Error() string { return "secateur has no token for it: " + e.err.Error() }
func (e *tokenError) Unwrap() error { return e.err }

// send makes one request to a provider. It does not follow redirects; the client may.
func (p *Proxy) send(ctx context.Context, to *provider, req *http.Request) (*http.Response, error) {
	req.Host = to.base.Host
	req.Proto, req.ProtoMajor, req.ProtoMinor = "HTTP/1.1", 1, 1
	var text string
	if token := p.opt.Tokens[to.name]; token != nil {
		var err error
		if text, err = token(ctx); err != nil {
			return nil, &tokenError{err}
		}
		delete(req.Header, "X-Api-Key") // two different credentials would be ambiguous
		req.Header["Authorization"] = []string{"Bearer " + text}
	}
	ctx, span := telemetry.StartProvider(ctx, to.name, req.Method, routeLabel(req.URL.Path))
	req.Header = telemetry.TraceHeader(ctx, req.Header)
	res, err := p.transport.RoundTrip(req.WithContext(ctx))
	if err != nil {
		span.End(string(unreachable))
		return nil, err
	}
	if refused := p.opt.Refused[to.name]; res.StatusCode == http.StatusUnauthorized && text != "" && refused != nil {
		refused(text) // the next request gets another
	}
	span.Status(res.StatusCode)
	res.Body = span.UntilClosed(res.Body)
	if res.StatusCode == http.StatusSwitchingProtocols && (!isWebSocket(req.Header) || !isWebSocket(res.Header)) {
		_ = res.Body.Close()
		return nil, errWrongUpgrade
	}
	withoutOurs(res.Header)
	return res, nil
}
