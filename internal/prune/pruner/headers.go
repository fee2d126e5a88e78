package pruner

import (
	"cmp"
	"net/http"
	"slices"

	"secateur/internal/mcp/era"
	"secateur/internal/mcp/wire"
)

// checkHeaders compares the Streamable HTTP headers with the message. Without a protocol version
// header it compares nothing: that is plain JSON-RPC.
func checkHeaders(h http.Header, msg *wire.Message) *wire.Error {
	version := h.Get(era.HeaderVersion)
	if version == "" {
		return nil
	}
	if !slices.Contains(era.Versions(), version) {
		return era.UnsupportedVersion(version)
	}
	meta := era.ReadMeta(msg.Params)
	switch {
	case era.IsLegacy(version):
		if meta.Version != "" && meta.Version != version {
			return era.HeaderMismatch(era.HeaderVersion + " is not the protocol version in _meta")
		}
		return nil
	case msg.Kind() == wire.Request && meta.Version == "":
		return wire.InvalidParams("/_meta/io.modelcontextprotocol~1protocolVersion", "is missing")
	}
	return era.CheckHeaders(h, msg, meta)
}

// statusOf returns the HTTP status of an error. The modern era defines some.
func statusOf(h http.Header, failed *wire.Error) int {
	if !era.IsModern(h.Get(era.HeaderVersion)) {
		return http.StatusOK
	}
	return cmp.Or(era.HTTPStatus(failed.Code), http.StatusOK)
}
