package pruner

import (
	"context"

	"secateur/internal/mcp/toolserver"
	"secateur/internal/mcp/wire"
	"secateur/internal/rawjson"

	"github.com/go-json-experiment/json/jsontext"
)

// health returns the state of the pruner as a JSON object.
func (s *Server) health() []byte {
	out := []byte(`{"status":"healthy","server":"` + Name + `","version":`)
	out = rawjson.AppendQuoted(out, s.opt.Version)
	out = append(out, `,"capabilities":["prune_text","recover_text","annotations","markers"],"timestamp":"`...)
	// A numeric offset, also for UTC.
	out = s.opt.Now().AppendFormat(out, "2006-01-02T15:04:05-07:00")
	return append(out, `"}`...)
}

func (s *Server) healthTool(ctx context.Context, _ jsontext.Value) (toolserver.Result, *wire.Error) {
	return answer(ctx, s.health()), nil
}

func (s *Server) healthMethod(context.Context, *wire.Message) ([]byte, *wire.Error) {
	return s.health(), nil
}
