package toolserver

import (
	"context"
	"slices"

	"secateur/internal/rawjson"
	"secateur/internal/rpc"
)

func (s *Server) initialize(_ context.Context, _ *rpc.Message, p params) ([]byte, *rpc.Error) {
	version, err := p.text("protocolVersion")
	if err != nil {
		return nil, err
	}
	if !slices.Contains(legacy, version) {
		version = legacy[len(legacy)-1]
	}
	out := rawjson.AppendQuoted([]byte(`{"protocolVersion":`), version)
	out = append(append(out, capabilities...), `,"serverInfo":`...)
	out = append(out, s.info...)
	return append(s.appendInstructions(out), '}'), nil
}

func (s *Server) discover(context.Context, *rpc.Message, params) ([]byte, *rpc.Error) {
	out := appendVersions([]byte(`{"supportedVersions":`))
	out = s.appendInstructions(append(out, capabilities...))
	return s.appendModern(out, cacheable), nil
}

const capabilities = `,"capabilities":{"tools":{"listChanged":false}}`

func (s *Server) appendResult(out []byte, r Result, modern bool) []byte {
	out = slices.Grow(out, len(r.Text)+len(r.Text)/8+len(r.Structured)+256)
	out = append(out, `{"content":[{"type":"text","text":`...)
	out = rawjson.AppendQuoted(out, r.Text)
	out = append(out, `}]`...)
	if r.Structured != nil {
		out = append(append(out, `,"structuredContent":`...), r.Structured...)
	}
	if r.IsError {
		out = append(out, `,"isError":true`...)
	}
	if !modern {
		return append(out, '}')
	}
	return s.appendModern(out, unique)
}

// caching says whether a modern result may be kept by the client.
type caching bool

const (
	cacheable caching = true
	unique    caching = false
)

// appendModern closes a result of the modern era.
func (s *Server) appendModern(out []byte, c caching) []byte {
	out = append(out, `,"resultType":"complete"`...)
	if c == cacheable {
		out = append(out, `,"ttlMs":3600000,"cacheScope":"public"`...)
	}
	out = append(out, `,"_meta":{"io.modelcontextprotocol/serverInfo":`...)
	return append(append(out, s.info...), `}}`...)
}

func (s *Server) appendInstructions(out []byte) []byte {
	if s.opt.Instructions == "" {
		return out
	}
	return rawjson.AppendQuoted(append(out, `,"instructions":`...), s.opt.Instructions)
}

func infoOf(opt Options) []byte {
	out := rawjson.AppendQuoted([]byte(`{"name":`), opt.Name)
	if opt.Title != "" {
		out = rawjson.AppendQuoted(append(out, `,"title":`...), opt.Title)
	}
	return append(rawjson.AppendQuoted(append(out, `,"version":`...), opt.Version), '}')
}

func appendTool(out []byte, t Tool) []byte {
	out = rawjson.AppendQuoted(append(out, `{"name":`...), t.Name)
	out = rawjson.AppendQuoted(append(out, `,"description":`...), t.Description)
	out = append(append(out, `,"inputSchema":`...), t.Schema...)
	if t.ReadOnly {
		out = append(out, `,"annotations":{"readOnlyHint":true,"openWorldHint":`...)
		if t.OpenWorld {
			out = append(out, `true}`...)
		} else {
			out = append(out, `false}`...)
		}
	}
	return append(out, '}')
}
