package admin

import (
	"maps"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json"

	"secateur/internal/access"
)

// Problem is a refusal as application/problem+json (RFC 9457).
type Problem struct {
	Type   string        `json:"type"`
	Title  string        `json:"title"`
	Status int           `json:"status"`
	Detail string        `json:"detail"`
	Code   string        `json:"code"` // from a closed set of words
	Hint   string        `json:"hint"` // what to do next
	Reason string        `json:"reason,omitzero"`
	Rule   string        `json:"rule,omitzero"`   // the rule that denied it, if the caller may know
	Errors []ConfigError `json:"errors,omitzero"` // of an invalid configuration

	Header http.Header `json:"-"` // additional response headers
}

// ConfigError is one mistake in a configuration.
type ConfigError struct {
	File    string `json:"file"`
	Line    int    `json:"line"` // 0: not about a line
	Key     string `json:"key"`
	Message string `json:"message"`
}

// The codes of this package. Others come from the doors.
const (
	CodeInvalidRequest     = "invalid_request"
	CodeUnknownServer      = "unknown_server"
	CodeConfigReadOnly     = "config_read_only"
	CodeConfigInvalid      = "config_invalid"
	CodeCommandsNotAllowed = "commands_not_allowed"
	CodePruneIDNotFound    = "prune_id_not_found"
	CodeInvalidRange       = "invalid_range"
	CodeUnavailable        = "recovery_unavailable"
	CodeSignInFailed       = "login_failed"
	CodeForbidden          = "forbidden"
	CodeRateLimited        = "rate_limited"
	CodeInternal           = "internal_error"
)

func (p *Problem) Error() string { return p.Detail }

// NewProblem returns a refusal with a status, a code, and a text for people.
func NewProblem(status int, code, detail, hint string) *Problem {
	return &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail, Code: code, Hint: hint}
}

// Write sends the refusal.
func (p *Problem) Write(w http.ResponseWriter) {
	maps.Copy(w.Header(), p.Header)
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(p.Status)
	_ = json.MarshalWrite(w, p) // the client may be gone
}

// Refuse answers a caller that access control refused.
func Refuse(w http.ResponseWriter, v access.Verdict) {
	p := NewProblem(http.StatusForbidden, CodeForbidden, v.Reason, "")
	switch v.Kind {
	case access.Overloaded:
		w.Header().Set("Retry-After", "2")
		p = NewProblem(http.StatusServiceUnavailable, "overloaded", v.Reason, "try again in 2 s")
	case access.Guessing:
		w.Header().Set("Retry-After", strconv.Itoa(access.GuessWait))
		p = NewProblem(http.StatusTooManyRequests, CodeRateLimited, v.Reason, "")
	case access.Unauthorized:
		w.Header().Set("WWW-Authenticate", v.Header())
		p = NewProblem(http.StatusUnauthorized, "unauthorized", v.Reason, "")
		p.Reason = string(v.Cause)
	}
	p.Write(w)
}
