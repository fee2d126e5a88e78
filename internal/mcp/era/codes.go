package era

import (
	"fmt"
	"strings"

	"secateur/internal/mcp/wire"
)

// The error codes that MCP adds to those of JSON-RPC, each known in one era only.
const (
	CodeResourceNotFound    = -32002 // legacy; the modern era has wire.CodeInvalidParams for it
	CodeElicitationRequired = -32042 // legacy, SEP-1036: a page has to be visited first; the modern era has MRTR for it
	CodeHeaderMismatch      = -32020 // modern: a header and the message differ
	CodeMissingCapability   = -32021 // modern: of the client
	CodeUnsupportedVersion  = -32022 // modern: of the protocol
)

// UnsupportedVersion is the answer to a request in a revision that is none of Versions.
func UnsupportedVersion(requested string) *wire.Error {
	requested = clip(requested)
	e := newError(CodeUnsupportedVersion, "unsupported_protocol_version", fmt.Sprintf("protocol version %q is not supported", requested))
	e.Data.Supported, e.Data.Requested = Versions(), requested
	return e
}

// MissingCapability is the answer to a request that its client would have to be able
// to do more for: required are capabilities as a raw object.
func MissingCapability(problem string, required []byte) *wire.Error {
	e := newError(CodeMissingCapability, "missing_client_capability", problem)
	e.Data.Extra = append([]byte(`"requiredCapabilities":`), required...)
	return e
}

// HeaderMismatch is the answer to a request whose headers do not say what it says.
func HeaderMismatch(problem string) *wire.Error {
	return newError(CodeHeaderMismatch, "header_mismatch", "header mismatch: "+problem)
}

func newError(code int, word, message string) *wire.Error {
	e := wire.NewError(code, message)
	e.Data.Code = word
	return e
}

// clip makes what a peer wrote fit for a message.
func clip(s string) string {
	const most = 100
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
