package pruner

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"secateur/internal/rpc"
	"secateur/internal/toolserver"
)

// The headers of Streamable HTTP. The modern era wants them to say what the body says, so that whatever stands
// between can trust them.
const (
	headerVersion = "Mcp-Protocol-Version"
	headerMethod  = "Mcp-Method"
	headerName    = "Mcp-Name"
)

// codeHeaderMismatch is MCP's for headers that are missing or say something else than the body.
const codeHeaderMismatch = -32020

// checkHeaders compares what the headers say with the message. Without a protocol version there, nothing is
// compared: that is plain JSON-RPC.
func checkHeaders(h http.Header, msg *rpc.Message) *rpc.Error {
	version := h.Get(headerVersion)
	if version == "" {
		return nil
	}
	if !slices.Contains(toolserver.Versions(), version) {
		return toolserver.UnsupportedVersion(version)
	}
	inBody := toolserver.VersionOf(msg)
	if version != toolserver.Modern {
		if inBody != "" && inBody != version {
			return mismatch(headerVersion + " is not the protocol version in _meta")
		}
		return nil
	}
	switch {
	case h.Get(headerMethod) == "":
		return mismatch(headerMethod + " is missing")
	case h.Get(headerMethod) != msg.Method:
		return mismatch(headerMethod + " is not the method of the message")
	case msg.Kind() != rpc.Request:
		return nil
	case inBody == "":
		return rpc.InvalidParams("/_meta/io.modelcontextprotocol~1protocolVersion", "is missing")
	case inBody != version:
		return mismatch(headerVersion + " is not the protocol version in _meta")
	}
	return checkName(h, msg)
}

// checkName compares the name of what the message is about.
func checkName(h http.Header, msg *rpc.Message) *rpc.Error {
	want := ""
	switch msg.Method {
	case "tools/call", "prompts/get":
		want = msg.Name
	case "resources/read":
		want = msg.URI
	default:
		return nil
	}
	got := h.Get(headerName)
	if got == "" {
		return mismatch(headerName + " is missing")
	}
	if name, ok := decodeHeader(got); !ok || name != want {
		return mismatch(headerName + " is not the name in the message")
	}
	return nil
}

// decodeHeader reads a header value, which stands in base64 where it is not plain text.
func decodeHeader(value string) (string, bool) {
	inner, ok := strings.CutPrefix(value, "=?base64?")
	if !ok {
		return value, true
	}
	if inner, ok = strings.CutSuffix(inner, "?="); !ok {
		return value, true
	}
	text, err := base64.StdEncoding.DecodeString(inner)
	return string(text), err == nil
}

func mismatch(problem string) *rpc.Error {
	e := rpc.NewError(codeHeaderMismatch, "header mismatch: "+problem)
	e.Data.Code = "header_mismatch"
	return e
}

// statusOf is the HTTP status of an error: the modern era has some of its own.
func statusOf(h http.Header, failed *rpc.Error) int {
	if h.Get(headerVersion) != toolserver.Modern {
		return http.StatusOK
	}
	switch failed.Code {
	case rpc.CodeMethodNotFound:
		return http.StatusNotFound
	case rpc.CodeInvalidParams, rpc.CodeUnsupportedVersion:
		return http.StatusBadRequest
	}
	return http.StatusOK
}
