package pruner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"strings"

	"secateur/internal/mcp/toolserver"
	"secateur/internal/mcp/wire"
	"secateur/internal/rawjson"
	"secateur/internal/store/originals"
)

// maxAnswer limits how much of a daemon's response is read. A daemon limits its responses too.
const maxAnswer = 2 * maxEncoded

// FromDaemon fetches from the pruner of a running program, whose /rpc is at url. header is sent
// with every request; nil: none. An original too large for one response is fetched in parts.
func FromDaemon(client *http.Client, url string, header http.Header) Fetch {
	d := daemon{client, url, header}
	return func(ctx context.Context, id string) (string, error) {
		whole := rawjson.AppendQuoted([]byte(`{"name":"recover_text","arguments":{"prune_id":`), id)
		part, err := d.call(ctx, append(whole, `,"ranges":[{"start_line":1,"end_line":9007199254740991}],"include_line_numbers":false}}`...))
		if !errors.Is(err, errTooMuch) {
			return part.text, err
		}
		var all strings.Builder
		for start := 0; ; start = part.end {
			next := rawjson.AppendQuoted([]byte(`{"name":"recover_chars","arguments":{"prune_id":`), id)
			next = appendInt(appendInt(next, "start", start), "end", math.MaxInt32)
			if part, err = d.call(ctx, append(next, `}}`...)); err != nil {
				return "", err
			}
			all.WriteString(part.text)
			if part.last() {
				return all.String(), nil
			}
		}
	}
}

// daemon is a running program.
type daemon struct {
	client *http.Client
	url    string
	header http.Header
}

// part is the part of an original in one response.
type part struct {
	text       string
	end, total int // in characters, in a response of recover_chars
}

func (p part) last() bool { return p.end >= p.total || p.text == "" }

// errTooMuch means that an original does not fit into one response.
var errTooMuch = errors.New("too much for one answer")

// call calls a tool.
func (d daemon) call(ctx context.Context, params []byte) (part, error) {
	call := wire.NewRequest(wire.NumberID(1), "tools/call", params)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.url, bytes.NewReader(call.Raw))
	if err != nil {
		return part{}, fmt.Errorf("daemon: %w", err)
	}
	maps.Copy(req.Header, d.header)
	req.Header.Set("Content-Type", "application/json")
	resp, err := d.client.Do(req)
	if err != nil {
		return part{}, absentDaemon{req.URL.Host, err}
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return part{}, fmt.Errorf("%w: answer broke off: %w", ErrUnreachable, err)
	}
	return readPart(resp.Status, answer)
}

// readPart reads the text from a response.
func readPart(status string, answer []byte) (part, error) {
	msg, err := wire.ParseServer(answer, 0)
	if err != nil && (strings.HasPrefix(status, "401") || strings.HasPrefix(status, "403")) {
		return part{}, ErrRefused
	}
	if err != nil {
		return part{}, fmt.Errorf("daemon answers %s: %w", status, err)
	}
	if msg.Error == nil {
		object := toolserver.Read(msg.Result).Object("structuredContent")
		meta := object.Object("metadata")
		return part{object.Text("raw_text"), meta.Integer("end"), meta.Integer("total_chars")}, nil
	}
	failed := toolserver.Read(msg.Error)
	data := failed.Object("data")
	switch failed.Integer("code") {
	case wire.CodeUnauthorized, wire.CodeForbidden:
		return part{}, ErrRefused
	case wire.CodePruneIDNotFound:
		return part{}, fmt.Errorf("%w: %w", errAsked, originals.ErrNotFound)
	case wire.CodeRecoveryUnavailable:
		return part{}, originals.ErrUnavailable
	case wire.CodeInvalidRange:
		if data.Has(memberTooMuch) {
			return part{}, errTooMuch
		}
		if data.Has("total_lines") && data.Integer("total_lines") == 0 {
			return part{}, nil // the empty text has no lines
		}
	}
	return part{}, fmt.Errorf("daemon refuses: %s", failed.Text("message"))
}
