package pruner

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"

	"secateur/internal/originals"
	"secateur/internal/rawjson"
	"secateur/internal/rpc"
	"secateur/internal/toolserver"
)

// maxAnswer bounds what is read of a daemon's answer: an original, quoted once as a value and once as text.
const maxAnswer = 256 << 20

// FromDaemon fetches from the pruner of a running program, whose /rpc is at url. The header, which may be nil, goes
// with every request.
func FromDaemon(client *http.Client, url string, header http.Header) Fetch {
	return func(ctx context.Context, id string) (string, error) {
		params := rawjson.AppendQuoted([]byte(`{"name":"recover_text","arguments":{"prune_id":`), id)
		params = append(params, `,"ranges":[{"start_line":1,"end_line":9007199254740991}],"include_line_numbers":false}}`...)
		call := rpc.NewRequest(rpc.NumberID(1), "tools/call", params)
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(call.Raw))
		if err != nil {
			return "", fmt.Errorf("daemon: %w", err)
		}
		maps.Copy(req.Header, header)
		req.Header.Set("Content-Type", "application/json")
		resp, err := client.Do(req)
		if err != nil {
			return "", fmt.Errorf("%w: %w", ErrUnreachable, err)
		}
		defer resp.Body.Close()
		answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
		if err != nil {
			return "", fmt.Errorf("%w: answer broke off: %w", ErrUnreachable, err)
		}
		return rawText(resp.Status, answer)
	}
}

// rawText reads the text out of an answer of recover_text.
func rawText(status string, answer []byte) (string, error) {
	msg, err := rpc.ParseServer(answer, 0)
	if err != nil {
		return "", fmt.Errorf("daemon answers %s: %w", status, err)
	}
	if msg.Error == nil {
		return toolserver.Read(msg.Result).Object("structuredContent").Text("raw_text"), nil
	}
	failed := toolserver.Read(msg.Error)
	data := failed.Object("data")
	switch failed.Integer("code") {
	case rpc.CodePruneIDNotFound:
		return "", originals.ErrNotFound
	case rpc.CodeRecoveryUnavailable:
		return "", originals.ErrUnavailable
	case rpc.CodeInvalidRange:
		if data.Has("total_lines") && data.Integer("total_lines") == 0 {
			return "", nil // the empty text has no line to ask for
		}
	}
	return "", fmt.Errorf("daemon refuses: %s", failed.Text("message"))
}
