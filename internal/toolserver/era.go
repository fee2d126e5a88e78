package toolserver

import (
	"fmt"
	"slices"

	"secateur/internal/rawjson"
	"secateur/internal/rpc"
)

// Modern is the revision without sessions.
const Modern = "2026-07-28"

// legacy are the revisions with a handshake, oldest first.
var legacy = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}

// The members of a modern request's _meta.
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
)

// Versions are the protocol revisions spoken here, newest first.
func Versions() []string {
	all := append(slices.Clone(legacy), Modern)
	slices.Reverse(all)
	return all
}

// UnsupportedVersion is the answer to a request in a revision that is none of [Versions].
func UnsupportedVersion(requested string) *rpc.Error {
	e := rpc.NewError(rpc.CodeUnsupportedVersion, fmt.Sprintf("protocol version %q is not supported", short(requested)))
	e.Data.Supported, e.Data.Requested = Versions(), short(requested)
	return e
}

// VersionOf is the protocol revision that a request names for itself in its _meta; "" if it names none.
func VersionOf(req *rpc.Message) string { return Read(req.Meta()).Text(metaVersion) }

// params are the params of a request whose era is settled.
type params struct {
	Arguments
	modern bool // the request speaks the era in which every request tells of its client
}

// parse reads params that the door has already found well-formed; absent ones are empty. A request that names a
// revision nobody here speaks, or forgets what the modern one demands, is refused.
func parse(req *rpc.Message) (params, *rpc.Error) {
	if req.Params == nil {
		return params{}, nil
	}
	if !rawjson.IsObject(req.Params) {
		return params{}, rpc.InvalidParams("", "params must be an object")
	}
	p := params{Arguments: Read(req.Params)}
	if !p.Has("_meta") {
		return p, nil
	}
	if !rawjson.IsObject(p.Arguments["_meta"]) {
		return p, rpc.InvalidParams("/_meta", "must be an object")
	}
	meta := p.Object("_meta")
	if !meta.Has(metaVersion) {
		return p, nil
	}
	if !rawjson.IsString(meta[metaVersion]) {
		return p, rpc.InvalidParams("/_meta/"+pointer(metaVersion), "must be a string")
	}
	version := meta.Text(metaVersion)
	if slices.Contains(legacy, version) {
		return p, nil
	}
	if version != Modern {
		return p, UnsupportedVersion(version)
	}
	if !rawjson.IsObject(meta[metaCapabilities]) {
		return p, rpc.InvalidParams("/_meta/"+pointer(metaCapabilities), "must be an object")
	}
	p.modern = true
	return p, nil
}

// text reads a string of the params; one that is there and is no string is an error.
func (p params) text(name string) (string, *rpc.Error) {
	if raw := p.Arguments[name]; p.Has(name) && !rawjson.IsString(raw) {
		return "", rpc.InvalidParams("/"+pointer(name), "must be a string")
	}
	return p.Text(name), nil
}
