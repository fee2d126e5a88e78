package pruner

import (
	"context"
	"slices"

	"secateur/internal/mcp/toolserver"
	"secateur/internal/mcp/wire"
)

// The tools for clients of the aggregate, which hand every definition to a model. All arguments but
// the id have defaults; the seed's other ones are accepted, too.
const (
	briefRecoverText = `{"type":"object","properties":{"prune_id":{"type":"string"},"ranges":{"type":"array","items":{"type":"object",` +
		`"properties":{"start_line":{"type":"integer"},"end_line":{"type":"integer"}}}},` +
		`"max_chars":{"type":"integer"}},"required":["prune_id"]}`

	briefRecoverChars = `{"type":"object","properties":{"prune_id":{"type":"string"},"start":{"type":"integer"},"end":{"type":"integer"},` +
		`"max_chars":{"type":"integer"}},"required":["prune_id"]}`

	briefSearchText = `{"type":"object","properties":{"prune_id":{"type":"string"},"pattern":{"type":"string"},` +
		`"regex":{"type":"boolean"},"ignore_case":{"type":"boolean"}},"required":["prune_id","pattern"]}`
)

// briefTable returns the tools for clients of the aggregate. prune_text and health can be called,
// and are listed if the settings say so.
func (s *Server) briefTable() []toolserver.Tool {
	full := s.toolTable()
	brief := []toolserver.Tool{
		{
			Name: "recover_text", Schema: briefRecoverText, ReadOnly: true, Call: s.recoverText,
			Description: "Returns lines of a shortened text. prune_id: the id in its marker.",
		},
		{
			Name: "recover_chars", Schema: briefRecoverChars, ReadOnly: true, Call: s.recoverChars,
			Description: "The same by characters, from 0.",
		},
		{
			Name: "search_text", Schema: briefSearchText, ReadOnly: true, Call: s.searchText,
			Description: "Finds a pattern in a shortened text: lines and characters.",
		},
	}
	for _, t := range full {
		if slices.ContainsFunc(brief, func(b toolserver.Tool) bool { return b.Name == t.Name }) {
			continue
		}
		t.Unlisted = t.Unlisted || s.opt.Tools != ToolsAll
		brief = append(brief, t)
	}
	return brief
}

const (
	// BriefChars is the default length of what a client of the aggregate gets back at once.
	BriefChars = 20_000
	// argMaxChars is the argument that allows more, or less.
	argMaxChars = "max_chars"
	// maxAskedChars limits max_chars. A response of that many control characters fits into
	// maxEncoded.
	maxAskedChars = 2_000_000
)

// maxChars returns how many characters a call may return: its own max_chars, else the limit for
// clients of the aggregate, else usual. 0: no limit.
func maxChars(ctx context.Context, args toolserver.Arguments, usual int) (int, *wire.Error) {
	if !args.Has(argMaxChars) {
		if brief := toolserver.BriefChars(ctx); brief > 0 {
			return brief, nil
		}
		return usual, nil
	}
	n := args.Integer(argMaxChars)
	if n < 1 {
		return 0, wire.InvalidParams("/"+argMaxChars, "must be an integer of at least 1")
	}
	return min(n, maxAskedChars), nil
}
