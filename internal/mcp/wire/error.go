package wire

import (
	"encoding/json"
	"strconv"
	"strings"

	"secateur/internal/rawjson"
)

// Error codes of JSON-RPC and of secateur. The codes that MCP adds are in package era.
const (
	CodeParse               = -32700
	CodeInvalidRequest      = -32600
	CodeMethodNotFound      = -32601
	CodeInvalidParams       = -32602
	CodeInternal            = -32603
	CodeUpstreamUnavailable = -32010
	CodeUpstreamTimeout     = -32011
	CodeUpstreamInvalid     = -32012
	CodeUnknownServer       = -32013
	CodeRateLimited         = -32014
	CodeUnauthorized        = -32015
	CodeForbidden           = -32016
	CodeLoginRequired       = -32017
	CodeOverloaded          = -32018
	CodePruneIDNotFound     = -32004
	CodeInvalidRange        = -32005
	CodeRecoveryUnavailable = -32006
	CodeCancelled           = -32800
)

// The words for the codes, sent in the error's data.code.
const (
	WordParse               = "parse_error"
	WordInvalidRequest      = "invalid_request"
	WordMethodNotFound      = "method_not_found"
	WordInvalidParams       = "invalid_params"
	WordInternal            = "internal_error"
	WordUpstreamUnavailable = "upstream_unavailable"
	WordUpstreamTimeout     = "upstream_timeout"
	WordUpstreamInvalid     = "upstream_invalid_response"
	WordUnknownServer       = "unknown_server"
	WordRateLimited         = "rate_limited"
	WordUnauthorized        = "unauthorized"
	WordForbidden           = "forbidden"
	WordLoginRequired       = "login_required"
	WordOverloaded          = "overloaded"
	WordPruneIDNotFound     = "prune_id_not_found"
	WordInvalidRange        = "invalid_range"
	WordRecoveryUnavailable = "recovery_unavailable"
	WordCancelled           = "cancelled"
)

// An Error is a JSON-RPC error that secateur itself reports.
type Error struct {
	Code    int
	Message string // for people; contains no request text and no secrets
	Data    Data
}

// Data is the error's data member. Empty fields are omitted; if all are empty, data is omitted.
type Data struct {
	Code       string // the word for the code
	HTTPStatus int    // the server's HTTP status
	Hint       string // how to fix the problem
	Server     string // the server's id
	Path       string // JSON Pointer to the invalid part of the params
	Errors     []byte // all problems, as a JSON array

	Supported []string // supported protocol versions, if Requested is not among them
	Requested string

	Extra []byte // further members as JSON, without braces: `"total_lines":12`
}

// NewError returns an Error whose data.code is the word for the code.
func NewError(code int, message string) *Error {
	return &Error{Code: code, Message: message, Data: Data{Code: words[code]}}
}

// RateLimited returns the error for a call over a rate limit. The call may be retried after the
// given seconds. limit is the configuration key of the limit.
func RateLimited(seconds int, limit string) *Error {
	e := NewError(CodeRateLimited, "Rate limit exceeded")
	e.Data.Hint = "try again in " + strconv.Itoa(seconds) + " s, or raise " + limit
	return e
}

// InvalidParams returns the Error for params that are invalid at a JSON Pointer.
func InvalidParams(path, problem string) *Error {
	message := "invalid params"
	if text := strings.TrimSpace(path + " " + problem); text != "" {
		message += ": " + text
	}
	e := NewError(CodeInvalidParams, message)
	e.Data.Path = path
	return e
}

var words = map[int]string{
	CodeParse:               WordParse,
	CodeInvalidRequest:      WordInvalidRequest,
	CodeMethodNotFound:      WordMethodNotFound,
	CodeInvalidParams:       WordInvalidParams,
	CodeInternal:            WordInternal,
	CodeUpstreamUnavailable: WordUpstreamUnavailable,
	CodeUpstreamTimeout:     WordUpstreamTimeout,
	CodeUpstreamInvalid:     WordUpstreamInvalid,
	CodeUnknownServer:       WordUnknownServer,
	CodeRateLimited:         WordRateLimited,
	CodeUnauthorized:        WordUnauthorized,
	CodeForbidden:           WordForbidden,
	CodeLoginRequired:       WordLoginRequired,
	CodeOverloaded:          WordOverloaded,
	CodePruneIDNotFound:     WordPruneIDNotFound,
	CodeInvalidRange:        WordInvalidRange,
	CodeRecoveryUnavailable: WordRecoveryUnavailable,
	CodeCancelled:           WordCancelled,
}

func (e *Error) Error() string { return e.Message }

// AppendResponse appends a complete response to request id with this error. The zero ID becomes
// null.
func (e *Error) AppendResponse(dst []byte, id ID) []byte {
	return append(e.Append(appendResponse(dst, id, `,"error":`)), '}')
}

// Append appends the error object.
func (e *Error) Append(dst []byte) []byte {
	o := rawjson.Object(append(dst, '{'))
	o.Int("code", int64(e.Code))
	o.Text("message", e.Message)
	if members := e.Data.members(); len(members) > 0 {
		o.Begin("data")
		o = append(o, members...)
		o.End()
	}
	return append(o, '}')
}

// MarshalJSON encodes an Error as its JSON-RPC error object.
func (e *Error) MarshalJSON() ([]byte, error) { return e.Append(nil), nil }

var _ json.Marshaler = (*Error)(nil)

func (d *Data) members() []byte {
	var o rawjson.Object
	text := func(name, text string) {
		if text != "" {
			o.Text(name, text)
		}
	}
	text("code", d.Code)
	if d.HTTPStatus != 0 {
		o.Int("http_status", int64(d.HTTPStatus))
	}
	text("hint", d.Hint)
	text("server", d.Server)
	text("path", d.Path)
	if len(d.Errors) > 0 {
		o.Raw("errors", d.Errors)
	}
	if d.Supported != nil {
		o.Texts("supported", d.Supported)
	}
	text("requested", d.Requested)
	if len(d.Extra) > 0 {
		if len(o) > 0 {
			o = append(o, ',')
		}
		o = append(o, d.Extra...)
	}
	return o
}
