package toolserver

import (
	"context"

	"secateur/internal/mcp/era"
	"secateur/internal/mcp/wire"
	"secateur/internal/rawjson"
)

func (s *Server) initialize(_ context.Context, _ *wire.Message, p params) ([]byte, *wire.Error) {
	version, err := p.text("protocolVersion")
	if err != nil {
		return nil, err
	}
	out := rawjson.Object{'{'}
	out.Text("protocolVersion", era.Agreed(version))
	out.Raw("capabilities", []byte(s.opt.Capabilities))
	out.Raw("serverInfo", s.info)
	s.addInstructions(&out)
	return append(out, '}'), nil
}

func (s *Server) discover(context.Context, *wire.Message, params) ([]byte, *wire.Error) {
	out := rawjson.Object{'{'}
	out.Texts("supportedVersions", era.Versions())
	out.Raw("capabilities", []byte(s.opt.Capabilities))
	s.addInstructions(&out)
	return s.modern(out, cacheable), nil
}

const capabilities = `{"tools":{"listChanged":false}}`

func (s *Server) result(r Result, modern bool) []byte {
	out := make(rawjson.Object, 0, len(r.Text)+len(r.Text)/8+len(r.Structured)+256)
	out = append(out, `{"content":[{"type":"text","text":`...)
	out = append(rawjson.AppendQuoted(out, r.Text), `}]`...)
	if r.Structured != nil {
		out.Raw("structuredContent", r.Structured)
	}
	if r.IsError {
		out.Bool("isError", true)
	}
	if !modern {
		return append(out, '}')
	}
	return s.modern(out, unique)
}

// caching says whether a client may cache a modern result.
type caching bool

const (
	cacheable caching = true
	unique    caching = false
)

// modern completes a result of the modern era.
func (s *Server) modern(out rawjson.Object, c caching) []byte {
	out.Text("resultType", era.Complete)
	if c == cacheable {
		out.Int("ttlMs", 3_600_000)
		out.Text("cacheScope", "public")
	}
	out.Begin("_meta")
	out.Raw(era.MetaServer, s.info)
	out.End()
	return append(out, '}')
}

func (s *Server) addInstructions(out *rawjson.Object) {
	if s.opt.Instructions != "" {
		out.Text("instructions", s.opt.Instructions)
	}
}

func infoOf(opt Options) []byte {
	out := rawjson.Object{'{'}
	out.Text("name", opt.Name)
	if opt.Title != "" {
		out.Text("title", opt.Title)
	}
	out.Text("version", opt.Version)
	return append(out, '}')
}

// appendTool appends a definition. A brief one leaves out the hint that nothing outside is reached.
func appendTool(dst []byte, t Tool, brief bool) []byte {
	out := rawjson.Object(append(dst, '{'))
	out.Text("name", t.Name)
	out.Text("description", t.Description)
	out.Raw("inputSchema", []byte(t.Schema))
	if t.ReadOnly {
		out.Begin("annotations")
		out.Bool("readOnlyHint", true)
		if !brief {
			out.Bool("openWorldHint", t.OpenWorld)
		}
		out.End()
	}
	return append(out, '}')
}
