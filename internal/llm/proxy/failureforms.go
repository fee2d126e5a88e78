package proxy

import (
	"net/http"

	"secateur/internal/llm/chat"
	"secateur/internal/rawjson"
)

// appendAnthropic appends {"type":"error",…}.
func (f *failure) appendAnthropic(dst []byte) []byte {
	dst = append(dst, `{"type":"error","error":{"type":`...)
	dst = rawjson.AppendQuoted(dst, f.anthropicKind())
	dst = append(dst, `,"message":`...)
	dst = rawjson.AppendQuoted(dst, f.message)
	return append(dst, "}}"...)
}

// anthropicKind returns the error type by Anthropic's table of statuses and types.
func (f *failure) anthropicKind() string {
	switch f.status {
	case http.StatusBadRequest, http.StatusRequestTimeout, http.StatusUpgradeRequired:
		return invalidRequest
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusForbidden:
		return "permission_error"
	case http.StatusNotFound:
		return "not_found_error"
	case http.StatusRequestEntityTooLarge:
		return "request_too_large"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	case http.StatusServiceUnavailable:
		return "overloaded_error"
	case http.StatusGatewayTimeout:
		return "timeout_error"
	}
	return "api_error" // also for a response that breaks off
}

// appendEvent appends the failure as an event of a stream, without the final blank line.
func (f *failure) appendEvent(dst []byte, format chat.Format) []byte {
	switch format {
	case chat.Messages:
		dst = append(dst, "event: error\ndata: "...)
		return f.appendAnthropic(dst)
	case chat.Responses:
		dst = append(dst, "event: error\ndata: {\"type\":\"error\",\"code\":"...)
		dst = rawjson.AppendQuoted(dst, f.code)
		dst = append(dst, `,"message":`...)
		dst = rawjson.AppendQuoted(dst, f.message)
		return append(dst, `,"param":null}`...)
	}
	dst = append(dst, "data: "...)
	return f.append(dst, format)
}
