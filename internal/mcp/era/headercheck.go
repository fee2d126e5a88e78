package era

import "secateur/internal/mcp/wire"

// The headers of Streamable HTTP. Method and name exist only in the modern era (2026-07-28,
// basic/transports, "Standard request headers"; SEP-2243). They repeat values of the message, so
// that intermediaries can trust them.
const (
	HeaderVersion = "Mcp-Protocol-Version"
	HeaderSession = "Mcp-Session-Id"
	HeaderMethod  = "Mcp-Method"
	HeaderName    = "Mcp-Name"
)

// CheckHeaders compares the headers of a modern message, an http.Header, with the values they
// repeat. It returns nil if they match. meta is the message's own.
func CheckHeaders(h map[string][]string, m *wire.Message, meta Meta) *wire.Error {
	if meta.HasVersion {
		if wrong := checkHeader(h, HeaderVersion, meta.Version); wrong != nil {
			return wrong
		}
	}
	if wrong := checkHeader(h, HeaderMethod, m.Method); wrong != nil {
		return wrong
	}
	if target, named := Target(m); named {
		return checkHeader(h, HeaderName, target)
	}
	return nil
}

// Target returns the value that the header Mcp-Name repeats, and whether the method has this
// header.
func Target(m *wire.Message) (string, bool) {
	switch m.Method {
	case "tools/call", "prompts/get":
		return m.Name, true
	case "resources/read":
		return m.URI, true
	case "tasks/get", "tasks/update", "tasks/cancel":
		return m.Task, true
	}
	return "", false
}

func checkHeader(h map[string][]string, name, want string) *wire.Error {
	values := h[name]
	if len(values) == 0 {
		return HeaderMismatch("header " + name + " is missing")
	}
	got, ok := DecodeHeader(values[0])
	if len(values) > 1 || !ok || got != want {
		return HeaderMismatch("header " + name + " is not what the message says")
	}
	return nil
}

// HTTPStatus returns the HTTP status for an error code in the modern era; 0: none prescribed.
func HTTPStatus(code int) int {
	switch code {
	case wire.CodeMethodNotFound:
		return 404
	case wire.CodeInvalidParams, CodeHeaderMismatch, CodeMissingCapability, CodeUnsupportedVersion:
		return 400
	}
	return 0
}
