package toolserver

import (
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/wire"
	"secateur/internal/rawjson"
)

// params are the params of a request whose era is known.
type params struct {
	Arguments
	modern bool // a modern request, which describes its client
}

// parse reads params that the door has already found well-formed; absent ones are empty. It refuses
// a request with an unsupported revision, or without the members that the modern one requires.
func parse(req *wire.Message) (params, *wire.Error) {
	if req.Params == nil {
		return params{}, nil
	}
	if !rawjson.IsObject(req.Params) {
		return params{}, wire.InvalidParams("", "params must be an object")
	}
	p := params{Arguments: Read(req.Params)}
	if !p.Has("_meta") {
		return p, nil
	}
	if !rawjson.IsObject(p.Arguments["_meta"]) {
		return p, wire.InvalidParams("/_meta", "must be an object")
	}
	meta := p.Object("_meta")
	if !meta.Has(era.MetaVersion) {
		return p, nil
	}
	if !rawjson.IsString(meta[era.MetaVersion]) {
		return p, wire.InvalidParams("/_meta/"+pointer(era.MetaVersion), "must be a string")
	}
	version := meta.Text(era.MetaVersion)
	if era.IsLegacy(version) {
		return p, nil
	}
	if !era.IsModern(version) {
		return p, era.UnsupportedVersion(version)
	}
	if !rawjson.IsObject(meta[era.MetaCapabilities]) {
		return p, wire.InvalidParams("/_meta/"+pointer(era.MetaCapabilities), "must be an object")
	}
	p.modern = true
	return p, nil
}

// text reads a string of the params. A value of another type is an error.
func (p params) text(name string) (string, *wire.Error) {
	if raw := p.Arguments[name]; p.Has(name) && !rawjson.IsString(raw) {
		return "", wire.InvalidParams("/"+pointer(name), "must be a string")
	}
	return p.Text(name), nil
}
