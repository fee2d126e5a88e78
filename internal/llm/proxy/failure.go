package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"secateur/internal/access"
	"secateur/internal/front/budget"
	"secateur/internal/front/datarate"
	"secateur/internal/llm/chat"
	"secateur/internal/rawjson"
)

// failure is our own error response, in the format of the client.
type failure struct {
	status  int
	kind    string // error.type
	code    string // error.code
	param   string // error.param; "": null
	message string
	outcome outcome
	wait    time.Duration // Retry-After; 0: none

	challenge string // WWW-Authenticate; "": none
}

func (f *failure) Error() string { return f.message }

const (
	invalidRequest = "invalid_request_error"
	upstreamError  = "upstream_error"
)

// append appends the failure as a response body in a format.
func (f *failure) append(dst []byte, format chat.Format) []byte {
	if format == chat.Messages {
		return f.appendAnthropic(dst)
	}
	dst = append(dst, `{"error":{"message":`...)
	dst = rawjson.AppendQuoted(dst, f.message)
	dst = append(dst, `,"type":`...)
	dst = rawjson.AppendQuoted(dst, f.kind)
	dst = append(dst, `,"param":`...)
	if f.param == "" {
		dst = append(dst, "null"...)
	} else {
		dst = rawjson.AppendQuoted(dst, f.param)
	}
	dst = append(dst, `,"code":`...)
	dst = rawjson.AppendQuoted(dst, f.code)
	return append(dst, "}}"...)
}

// refuse responds with a failure.
func (p *Proxy) refuse(w http.ResponseWriter, r *http.Request, to *provider, f *failure) {
	p.ended(r.Context(), to, f.outcome)
	if f.wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(max(1, int(math.Ceil(f.wait.Seconds())))))
	}
	if f.challenge != "" {
		w.Header().Set("WWW-Authenticate", f.challenge)
	}
	if f.status == http.StatusUpgradeRequired {
		w.Header().Set("Upgrade", "HTTP/1.1") // RFC 9110, section 15.5.22: it must name a protocol
	}
	// The rest of the request will not be read.
	if f.outcome == tooLarge || f.status == http.StatusRequestTimeout || f.status == http.StatusServiceUnavailable {
		w.Header().Set("Connection", "close")
	}
	writeJSON(w, f.status, f.append(nil, formatOf(r)))
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = bytes.NewReader(body).WriteTo(w) // a client that is gone needs no error
}

func bodyTooLarge(limit int64) *failure {
	return &failure{
		status: http.StatusRequestEntityTooLarge, kind: invalidRequest, code: "request_too_large", outcome: tooLarge,
		message: fmt.Sprintf("The request is larger than max_body_bytes (%d).", limit),
	}
}

// tooMany refuses a small request that would take far more memory than its bytes.
func tooMany() *failure {
	return &failure{
		status: http.StatusRequestEntityTooLarge, kind: invalidRequest, code: "request_too_large", outcome: tooLarge,
		message: fmt.Sprintf("The request has more than %d messages, parts or tools.", chat.MaxItems),
	}
}

// bodyBroken says why a request could not be read.
func bodyBroken(err error) *failure {
	if errors.Is(err, budget.ErrFull) {
		return overloaded()
	}
	if errors.Is(err, datarate.ErrTooSlow) {
		return &failure{
			status: http.StatusRequestTimeout, kind: invalidRequest, code: "request_timeout", outcome: badRequest,
			message: "The request came too slowly.",
		}
	}
	if errors.Is(err, access.ErrBodyHash) {
		return &failure{
			status: http.StatusUnauthorized, kind: "authentication_error", code: "invalid_api_key", outcome: badRequest, challenge: access.InvalidChallenge,
			message: "The body is not the one that was signed.",
		}
	}
	return &failure{
		status: http.StatusBadRequest, kind: invalidRequest, code: "invalid_body", outcome: badRequest,
		message: "The request ended before it was whole.",
	}
}

// overloaded refuses a request because the memory for requests is used up.
func overloaded() *failure {
	return &failure{
		status: http.StatusServiceUnavailable, kind: "server_error", code: "overloaded", outcome: limited, wait: 2 * time.Second,
		message: "Too much is under way here; try again, or raise max_in_flight_bytes.",
	}
}

// notJSON refuses a body without a trustworthy model if no provider takes it unread.
func notJSON() *failure {
	return &failure{
		status: http.StatusBadRequest, kind: invalidRequest, code: "invalid_json", outcome: badRequest,
		message: "The request is not strict JSON, and there is no default provider to take it as it is.",
	}
}

// modelNotFound refuses a model that no provider has.
func (p *Proxy) modelNotFound(model string) *failure {
	f := &failure{status: http.StatusNotFound, kind: invalidRequest, code: "model_not_found", param: "model", outcome: noModel}
	switch {
	case len(p.providers) == 0:
		f.message = "No provider is configured: add one under [providers]."
	case model == "":
		f.message = "The request names no model, and there is no default provider to take it; set default_provider."
	// Do not reveal whether a rule hides it or its provider lacks it.
	case p.opt.Admission.Rules() != nil:
		f.message = fmt.Sprintf("The model %s does not exist here; GET /v1/models lists what there is.", shorten(model))
	default:
		f.message = fmt.Sprintf("The model %s does not exist here: it is no alias, starts with no provider's name, "+
			"and there is no default provider; GET /v1/models lists what there is.", shorten(model))
	}
	return f
}

// wrongFormat refuses a model whose provider does not use the client's format.
func wrongFormat(model string, to *provider, asked chat.Format) *failure {
	return &failure{
		status: http.StatusBadRequest, kind: invalidRequest, code: "wrong_format", param: "model", outcome: badRequest,
		message: fmt.Sprintf("The model %s is one of the provider %q, which speaks the format %q and not %q: send it to %s, or set "+
			"providers.%s.format if it speaks this one. Formats are not translated into each other.",
			shorten(model), to.name, to.format, asked, routeOf(to.format), to.name),
	}
}

// wrongLogin refuses a client that is signed in with ChatGPT and asks for another provider.
func wrongLogin(to *provider) *failure {
	return &failure{
		status: http.StatusForbidden, kind: "permission_error", code: "wrong_login", outcome: badRequest,
		message: fmt.Sprintf("The provider %q is not shown the token of a ChatGPT account: add [providers.%s], or set providers.%s.api_key.", to.name, chatGPT, to.name),
	}
}

// noWebSocket refuses an upgrade to WebSocket. The client falls back to HTTP, where we can read its
// requests.
func noWebSocket() *failure {
	return &failure{
		status: http.StatusUpgradeRequired, kind: invalidRequest, code: "websocket_refused", outcome: badRequest,
		message: "secateur reads conversations over HTTP only: send POST /v1/responses.",
	}
}

// noProvider refuses a request that only a default provider could take.
func noProvider() *failure {
	return &failure{
		status: http.StatusNotFound, kind: invalidRequest, code: "no_default_provider", outcome: noModel,
		message: "There is no default provider to pass this to; set default_provider.",
	}
}

func rateLimited(wait time.Duration) *failure {
	return &failure{
		status: http.StatusTooManyRequests, kind: "rate_limit_error", code: "rate_limit_exceeded", outcome: limited, wait: wait,
		message: "Rate limit exceeded.",
	}
}

// unanswered says why a provider has sent no response.
func unanswered(to *provider, err error) *failure {
	f := &failure{status: http.StatusBadGateway, kind: upstreamError, code: "upstream_unavailable", outcome: unreachable}
	why := "the connection ended before it answered"
	var dns *net.DNSError
	var timeout interface{ Timeout() bool }
	noToken, lacks := errors.AsType[*tokenError](err)
	switch {
	case lacks:
		why = noToken.Error()
	case errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, context.DeadlineExceeded):
		f.status, f.code, f.outcome = http.StatusGatewayTimeout, "upstream_timeout", timedOut
		why = "it did not answer in time"
	case errors.As(err, &dns):
		why = "its name is not known"
	case errors.Is(err, syscall.ECONNREFUSED):
		why = "the connection was refused"
	case errors.Is(err, errWrongUpgrade):
		f.code, why = "upstream_invalid_response", "it changed to a protocol that was not asked for"
	case isTLS(err):
		why = "its certificate or its TLS is not accepted"
	}
	f.message = fmt.Sprintf("The provider %q is unavailable: %s.", to.name, why)
	return f
}

func isTLS(err error) bool {
	text := err.Error()
	return strings.Contains(text, "tls: ") || strings.Contains(text, "x509: ")
}

// notRedacted refuses to pass a response on that a rule redacts and that could not be read whole.
func notRedacted(to *provider) *failure {
	return &failure{
		status: http.StatusBadGateway, kind: upstreamError, code: "upstream_invalid_response", outcome: brokenOff,
		message: fmt.Sprintf("The answer of the provider %q could not be read whole, and a rule redacts it.", to.name),
	}
}

// brokeOff is the last event of a stream that the provider did not finish.
func brokeOff(to *provider) *failure {
	return &failure{
		kind: upstreamError, code: "upstream_stream_broken",
		message: fmt.Sprintf("The answer of the provider %q broke off.", to.name),
	}
}

// stopped is the last event of a stream that did not end before our shutdown.
func stopped() *failure {
	return &failure{kind: "server_error", code: "stopped", message: "secateur is stopping, and this answer has not ended in time."}
}

// wentSilent is the last event of a stream in which the provider was silent for too long.
func wentSilent(to *provider, patience time.Duration) *failure {
	return &failure{
		kind: upstreamError, code: "upstream_timeout",
		message: fmt.Sprintf("The provider %q has sent nothing for %s in the middle of its answer.", to.name, patience),
	}
}

// shorten quotes a client's name for a message, shortened.
func shorten(name string) string {
	const most = 100
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "") + "…"
	}
	return strconv.Quote(name)
}
