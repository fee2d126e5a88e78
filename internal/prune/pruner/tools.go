package pruner

import (
	"context"
	"time"

	"secateur/internal/mcp/toolserver"
	"secateur/internal/mcp/wire"
	"secateur/internal/prune"
	"secateur/internal/prune/rerank"

	"github.com/go-json-experiment/json/jsontext"
)

const instructions = "prune_text cuts the lines of a long text that a goal does not need. A line ⟦PRUNÉ: prune_id=… lignes A-B …⟧ " +
	"or ⟦PRUNED lines A-B …⟧ stands for lines A to B, which are kept: recover_text gives them back byte for byte, search_text looks for a pattern in them, " +
	"recover_chars fetches part of a very long line."

// The schemas of prune_text and recover_text are a contract: clients compare them.
const (
	pruneTextSchema = `{"type":"object","properties":{"text":{"type":"string"},"goal_hint":{"type":"string"},` +
		`"source_type":{"type":"string","enum":["code","logs","docs"]},"options":{"type":"object","properties":{` +
		`"max_prune_ratio":{"type":"number","minimum":0,"maximum":1},"min_keep_lines":{"type":"integer","minimum":0},` +
		`"timeout_ms":{"type":"integer","minimum":1},"annotate_lines":{"type":"boolean"},"include_markers":{"type":"boolean"}},` +
		`"required":["max_prune_ratio","min_keep_lines","timeout_ms","annotate_lines","include_markers"],"additionalProperties":false}},` +
		`"required":["text","goal_hint","source_type","options"],"additionalProperties":false}`

	recoverTextSchema = `{"type":"object","properties":{"prune_id":{"type":"string"},"ranges":{"type":"array","items":{"type":"object",` +
		`"properties":{"start_line":{"type":"integer","minimum":1},"end_line":{"type":"integer","minimum":1}},` +
		`"required":["start_line","end_line"],"additionalProperties":false}},"include_line_numbers":{"type":"boolean"}},` +
		`"required":["prune_id","ranges","include_line_numbers"],"additionalProperties":false}`

	recoverCharsSchema = `{"type":"object","properties":{"prune_id":{"type":"string"},` +
		`"start":{"type":"integer","minimum":0,"description":"first character, counted from 0"},` +
		`"end":{"type":"integer","minimum":0,"description":"the character to stop before"},` +
		`"max_chars":{"type":"integer","minimum":1,"description":"default 100000"}},` +
		`"required":["prune_id","start","end"],"additionalProperties":false}`

	searchTextSchema = `{"type":"object","properties":{"prune_id":{"type":"string"},"pattern":{"type":"string"},` +
		`"regex":{"type":"boolean","description":"the pattern is a regular expression (RE2); default false: literal text"},` +
		`"ignore_case":{"type":"boolean"},"max_matches":{"type":"integer","minimum":1,"maximum":1000,"description":"default 100"},` +
		`"max_chars":{"type":"integer","minimum":1,"description":"default 100000"}},` +
		`"required":["prune_id","pattern"],"additionalProperties":false}`

	healthSchema = `{"type":"object","properties":{},"additionalProperties":false}`
)

func (s *Server) toolTable() []toolserver.Tool {
	recoverText := toolserver.Tool{
		Name: "recover_text", Schema: recoverTextSchema, ReadOnly: true, Judges: judgesRecovery, Call: s.recoverText,
		Description: "Gives back lines of the original behind a prune_id, which is the id in a marker such as ⟦PRUNED lines 27-41 id=prn_…⟧, byte for byte. Line numbers are the original's, from 1, inclusive; " +
			"where its lines begin with numbers, as a part of a file shown by a tool, those.",
	}
	alias := recoverText
	alias.Name, alias.Unlisted = "recover_range", true
	return []toolserver.Tool{
		{
			Name: ToolPrune, Schema: pruneTextSchema, ReadOnly: true, OpenWorld: s.backend != rerank.Heuristic, Call: s.pruneText,
			Description: "Cuts the lines of a text that a goal does not need, and says which. Nothing is summarised, the order stays, " +
				"and everything cut can be restored with recover_text.",
		},
		recoverText,
		alias,
		{
			Name: "recover_chars", Schema: recoverCharsSchema, ReadOnly: true, Judges: belowMinimum, Call: s.recoverChars,
			Description: "Gives back characters start to end (end not included) of the original behind a prune_id: for a line too long to fetch whole.",
		},
		{
			Name: "search_text", Schema: searchTextSchema, ReadOnly: true, Call: s.searchText,
			Description: "Finds the lines of the original behind a prune_id that hold a pattern, with their numbers: look before you fetch.",
		},
		{
			Name: "health", Schema: healthSchema, ReadOnly: true, Call: s.healthTool,
			Description: "Tells whether the pruner works, and its version.",
		},
	}
}

// judgesRecovery accepts max_chars beyond the seed's schema, which clients compare.
func judgesRecovery(v toolserver.Violation) bool {
	return belowMinimum(v) || v.Keyword == "additionalProperties" && v.Path == "/"+argMaxChars
}

// belowMinimum leaves numbers below the minimum to the tool: a line below 1 is a bad range, not a
// bad type.
func belowMinimum(v toolserver.Violation) bool { return v.Keyword == "minimum" }

func (s *Server) pruneText(ctx context.Context, arguments jsontext.Value) (toolserver.Result, *wire.Error) {
	args := toolserver.Read(arguments)
	options := args.Object("options")
	source, err := prune.ParseSource(args.Text("source_type"))
	if err != nil {
		return toolserver.Result{}, wire.InvalidParams("/source_type", err.Error())
	}
	res := s.Prune(ctx, PruneRequest{
		Text:           args.Text("text"),
		Goal:           args.Text("goal_hint"),
		Source:         source,
		MaxPruneRatio:  options.Number("max_prune_ratio"),
		MinKeepLines:   options.Integer("min_keep_lines"),
		Timeout:        milliseconds(options.Integer("timeout_ms")),
		AnnotateLines:  options.Bool("annotate_lines"),
		IncludeMarkers: options.Bool("include_markers"),
	})
	return answer(ctx, res.AppendJSON(nil)), nil
}

// milliseconds converts a caller's time limit, at most a day.
func milliseconds(n int) time.Duration {
	const day = 24 * time.Hour
	return time.Duration(min(n, int(day/time.Millisecond))) * time.Millisecond
}

// answer returns a JSON object as a tool's result: as text, and as structured content unless the
// client hands both to a model.
func answer(ctx context.Context, object []byte) toolserver.Result {
	if toolserver.BriefChars(ctx) > 0 {
		return toolserver.Result{Text: string(object)}
	}
	return toolserver.Result{Text: string(object), Structured: object}
}
