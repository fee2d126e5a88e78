package pruner

import (
	"context"

	"secateur/internal/rawjson"
	"secateur/internal/rpc"
	"secateur/internal/toolserver"

	"github.com/go-json-experiment/json/jsontext"
)

// health is the state of the pruner as a JSON object.
func (s *Server) health() []byte {
	out := []byte(`{"status":"healthy","server":"` + Name + `","version":`)
	out = rawjson.AppendQuoted(out, s.opt.Version)
	out = append(out, `,"capabilities":["prune_text","recover_text","annotations","markers"],"timestamp":"`...)
	out = s.opt.Now().AppendFormat(out, "2006-01-02T15:04:05-07:00") // the offset in digits, in Greenwich too
	return append(out, `"}`...)
}

func (s *Server) healthTool(context.Context, jsontext.Value) (toolserver.Result, *rpc.Error) {
	return answer(s.health()), nil
}

func (s *Server) healthMethod(context.Context, *rpc.Message) ([]byte, *rpc.Error) {
	return s.health(), nil
}
