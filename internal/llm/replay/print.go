package replay

import (
	"fmt"
	"io"

	"secateur/internal/llm/chat"
)

// WriteText writes the report for a person: the advice, the totals, then each session.
func (r *Report) WriteText(w io.Writer) error {
	p := printer{w: w}
	r.writeSummary(&p)
	p.f("%d sessions, %d requests: bill over the bill of passing through, worst session in brackets\n\n", r.Sessions, r.Requests)
	r.writeTotals(&p, func(t TableReport) string { return fmt.Sprintf("%.3f (%.2f)", t.Ratio, t.Worst) })
	p.f("\nof the results that went out changed, held a name that a later answer uses and nothing sent still has\n\n")
	r.writeTotals(&p, func(t TableReport) string {
		return fmt.Sprintf("%d/%d", t.Faults.Lost, t.Faults.Changed)
	})
	r.writeEach(&p)
	return p.err
}

// formats gives the names of the formats for people, in output order.
var formats = []struct{ name, title string }{
	{chat.Completions.String(), "chat completions"}, {chat.Messages.String(), "Messages (Claude Code)"}, {chat.Responses.String(), "Responses (Codex)"},
}

// in returns the totals for the sessions of a format.
func (s StrategyReport) in(format string) (all []TableReport) {
	for _, t := range s.Totals {
		if t.Format == format {
			all = append(all, t)
		}
	}
	return all
}

// writeTotals writes one table for each format with sessions: a row for each strategy, a column for
// each generation of models.
func (r *Report) writeTotals(p *printer, cell func(TableReport) string) {
	apart := ""
	for _, f := range formats {
		for i, s := range r.Strategies {
			totals := s.in(f.name)
			if len(totals) == 0 {
				continue
			}
			if i == 0 {
				p.f("%s%-32s", apart, f.title)
				apart = "\n"
				for _, t := range totals {
					p.f(" %14s", t.Table)
				}
				p.f("\n")
			}
			p.f("%-32s", s.Name)
			for _, t := range totals {
				p.f(" %14s", cell(t))
			}
			p.f("\n")
		}
	}
}

// writeEach writes the ratio of each session.
func (r *Report) writeEach(p *printer) {
	for _, s := range r.Strategies {
		p.f("\n%s\n", s.Name)
		for _, f := range formats {
			totals := s.in(f.name)
			if len(totals) == 0 {
				continue
			}
			p.f("  %-44s %6s", f.title, "reqs")
			for _, t := range totals {
				p.f(" %14s", t.Table)
			}
			p.f("\n")
			for i, session := range totals[0].Each {
				p.f("  %-44s %6d", shorten(session.ID, 44), session.Requests)
				for _, t := range totals {
					p.f(" %14.3f", t.Each[i].Ratio)
				}
				p.f("\n")
			}
		}
	}
}

func shorten(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}

// printer writes until the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) f(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}
