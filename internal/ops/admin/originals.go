package admin

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"secateur/internal/access"
	"secateur/internal/prune"
)

// Original holds lines of a text that was cut.
type Original struct {
	ID         string `json:"id"`
	TotalLines int    `json:"total_lines"`
	StartLine  int    `json:"start_line"`
	EndLine    int    `json:"end_line"` // 0: the text is empty
	Text       string `json:"text"`
}

func (a *API) original() Operation {
	return Operation{
		ID: "getOriginal", Method: http.MethodGet, Path: "/originals/{id}", Summary: "What was cut, or lines of it", answer: Original{},
		query: []parameter{
			{name: "lines", about: "A-B, A- or A; all of them where it is left out", is: "string"},
			{name: "peek", about: "true: the cut does not count as recovered", is: "boolean", among: []string{"true", "false"}},
		},
		do: func(r *http.Request, p *access.Principal) (any, error) {
			id, peek := r.PathValue("id"), r.URL.Query().Get("peek")
			if peek != "" && peek != "true" && peek != "false" {
				return nil, NewProblem(http.StatusBadRequest, CodeInvalidRequest, "peek is true or false", "")
			}
			text, err := a.opt.Original(r.Context(), p, id)
			if err != nil {
				return nil, err
			}
			lines, err := linesOf(id, text, r.URL.Query().Get("lines"))
			if err == nil && peek != "true" && a.opt.Recovered != nil {
				a.opt.Recovered(id, lines.Text)
			}
			return lines, err
		},
	}
}

// linesOf returns the requested lines of a text.
func linesOf(id, text, asked string) (Original, error) {
	lines := prune.IndexLines(text)
	o := Original{ID: id, TotalLines: lines.Len(), StartLine: min(1, lines.Len()), EndLine: lines.Len(), Text: text}
	if asked == "" {
		return o, nil
	}
	start, end, ok := readRange(asked, lines.Len())
	if !ok || start < 1 || start > end || start > lines.Len() {
		return o, NewProblem(http.StatusRequestedRangeNotSatisfiable, CodeInvalidRange, fmt.Sprintf("lines %s are none; the text has %d", quoted(asked), lines.Len()), "write lines=A-B, counted from 1")
	}
	o.StartLine, o.EndLine = start, min(end, lines.Len())
	o.Text = lines.Recover([]prune.Span{{Start: o.StartLine, End: o.EndLine}}, false)
	return o, nil
}

// readRange parses A-B, A- and A.
func readRange(s string, last int) (start, end int, ok bool) {
	from, to, isRange := strings.Cut(s, "-")
	start, err := strconv.Atoi(from)
	switch {
	case err != nil:
		return 0, 0, false
	case !isRange:
		return start, start, true
	case to == "":
		return start, last, true
	}
	end, err = strconv.Atoi(to)
	return start, end, err == nil
}
