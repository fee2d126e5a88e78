package aggregate

import (
	"bytes"
	"context"
	"fmt"

	"secateur/internal/mcp/era"
	"secateur/internal/mcp/wire"
	"secateur/internal/rawjson"
)

// maxRounds bounds how often a modern server may want something more before it answers.
const maxRounds = 16

// rounds is MRTR (SEP-2322) in front of a legacy client: what a modern server wants to know first becomes requests to
// the client in the middle of its call; then the server is called again with the answers.
func (e *proxiedCall) rounds(ctx context.Context) reply {
	options, failed := e.options()
	if failed != nil {
		return refused(failed)
	}
	params := e.d.params
	for range maxRounds {
		answer, err := e.conn.Call(ctx, e.withMeta(e.message(params)), options)
		if err != nil {
			return refused(callFailed(ctx, e.d.server, err))
		}
		wanted, state, more := era.ReadInputRequired(answer.Result)
		if answer.Error != nil || !more {
			return e.finish(ctx, answer)
		}
		state = bytes.Clone(state)
		responses, failed := e.collect(ctx, wanted)
		answer.Release()
		if failed != nil {
			return refused(failed)
		}
		params = era.RetryParams(e.d.params, responses, state)
	}
	return refused(callFailed(ctx, e.d.server, fmt.Errorf("it asked for more %d times and did not answer", maxRounds)))
}

// withMeta says in a legacy client's request what a modern one says in each of its own.
func (e *proxiedCall) withMeta(m *wire.Message) *wire.Message {
	var members rawjson.Object
	members.Raw(era.MetaCapabilities, e.c.capabilities)
	if level := e.c.level.Load(); level != nil {
		members.Text(era.MetaLogLevel, *level)
	}
	out, bad := wire.ParseRequest(m.AppendWithMeta(nil, members), wire.MaxRequestDepth)
	if bad != nil {
		return m // params that are an array have no place for it, and no server that wants it
	}
	return &out
}

// collect puts what a server wants to know to the client, one question after the other.
func (e *proxiedCall) collect(ctx context.Context, wanted []era.InputRequest) ([]era.InputResponse, *failure) {
	relay := &relay{e}
	responses := make([]era.InputResponse, 0, len(wanted))
	for _, w := range wanted {
		answer, err := wire.ParseServer(relay.Serve(ctx, e.inner(w)), 0)
		if err != nil {
			return nil, callFailed(ctx, e.d.server, err)
		}
		value := bytes.Clone(answer.Result)
		if answer.Error != nil {
			if value = declined(w.Method); value == nil {
				return nil, &failure{err: wire.NewError(wire.CodeInternal,
					fmt.Sprintf("server %q asked for %s, and the client refused: %s", e.d.server, clipped(w.Method), clipped(rawjson.GetText(answer.Error, "message"))))}
			}
		}
		responses = append(responses, era.InputResponse{Key: w.Key, Value: value})
	}
	return responses, nil
}

// inner is a question as a request of the server's.
func (e *proxiedCall) inner(w era.InputRequest) *wire.Message {
	m := wire.NewRequest(wire.NumberID(0), w.Method, w.Params)
	return &m
}

// declined stands for the client's refusal where the protocol has a word for it.
func declined(method string) []byte {
	if method == "elicitation/create" {
		return []byte(`{"action":"cancel"}`)
	}
	return nil
}
