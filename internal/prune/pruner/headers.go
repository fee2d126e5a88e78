package pruner

import (
	"cmp"
	"net/http"
	"slices"

	"secateur/internal/mcp/era"
	"secateur/internal/mcp/wire"
)

// checkHeaders compares what the headers of Streamable HTTP say with the message. Without a protocol version there,
// nothing is compared: that is plain JSON-RPC.
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

// statusOf is the HTTP status of an error: the modern era has some of its own.
func statusOf(h http.Header, failed *wire.Error) int {
	if !era.IsModern(h.Get(era.HeaderVersion)) {
		return http.StatusOK
	}
	return cmp.Or(era.HTTPStatus(failed.Code), http.StatusOK)
}
