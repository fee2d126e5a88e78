package era

import (
	"fmt"
	"strings"

	"secateur/internal/mcp/wire"
)

// The error codes that MCP adds to JSON-RPC. Each exists in one era only.
const (
	CodeResourceNotFound    = -32002 // legacy; modern: wire.CodeInvalidParams
	CodeElicitationRequired = -32042 // legacy, SEP-1036: visit a page first; modern: MRTR
	CodeHeaderMismatch      = -32020 // modern: a header differs from the message
	CodeMissingCapability   = -32021 // modern: the client lacks a capability
	CodeUnsupportedVersion  = -32022 // modern: unsupported protocol version
)

// UnsupportedVersion returns the error for a request with a revision that is not in Versions.
func UnsupportedVersion(requested string) *wire.Error {
	requested = clip(requested)
	e := newError(CodeUnsupportedVersion, "unsupported_protocol_version", fmt.Sprintf("protocol version %q is not supported", requested))
	e.Data.Supported, e.Data.Requested = Versions(), requested
	return e
}

// MissingCapability returns the error for a request that needs capabilities its client did not
// declare. required is a raw object of those capabilities.
func MissingCapability(problem string, required []byte) *wire.Error {
	e := newError(CodeMissingCapability, "missing_client_capability", problem)
	e.Data.Extra = append([]byte(`"requiredCapabilities":`), required...)
	return e
}

// HeaderMismatch returns the error for a request whose headers differ from its body.
func HeaderMismatch(problem string) *wire.Error {
	return newError(CodeHeaderMismatch, "header_mismatch", "header mismatch: "+problem)
}

func newError(code int, word, message string) *wire.Error {
	e := wire.NewError(code, message)
	e.Data.Code = word
	return e
}

// clip shortens a peer's text for use in an error message.
func clip(s string) string {
	const most = 100
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
