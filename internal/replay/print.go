package replay

import (
	"fmt"
	"io"
	"strings"
)

// WriteText writes the report for a person: what to do, all sessions together, then each.
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

// writeEach writes the ratio of each session.
func (r *Report) writeEach(p *printer) {
	for _, s := range r.Strategies {
		p.f("\n%s\n", s.Name)
		p.f("  %-44s %6s", "session", "reqs")
		for _, t := range s.Totals {
			p.f(" %14s", t.Table)
		}
		p.f("\n")
		for i := range s.each() {
			p.f("  %-44s %6d", shorten(s.Totals[0].Each[i].ID, 44), s.Totals[0].Each[i].Requests)
			for _, t := range s.Totals {
				p.f(" %14.3f", t.Each[i].Ratio)
			}
			p.f("\n")
		}
	}
}

func (r *Report) writeTotals(p *printer, cell func(TableReport) string) {
	for i, s := range r.Strategies {
		if i == 0 {
			p.f("%-32s", "strategy")
			for _, t := range s.Totals {
				p.f(" %14s", t.Table)
			}
			p.f("\n")
		}
		p.f("%-32s", s.Name)
		for _, t := range s.Totals {
			p.f(" %14s", cell(t))
		}
		p.f("\n")
	}
}

// WriteMarkdown writes the totals as tables.
func (r *Report) WriteMarkdown(w io.Writer) error {
	p := printer{w: w}
	table := func(cell func(TableReport) string) {
		for i, s := range r.Strategies {
			if i == 0 {
				p.f("| strategy |")
				for _, t := range s.Totals {
					p.f(" %s (%.3g, %.3g) |", t.Table, t.Read, t.Write)
				}
				p.f("\n|---|%s\n", strings.Repeat("---|", len(s.Totals)))
			}
			p.f("| %s |", s.Name)
			for _, t := range s.Totals {
				p.f(" %s |", cell(t))
			}
			p.f("\n")
		}
		p.f("\n")
	}
	p.f("All sessions together, bill over the bill of passing through:\n\n")
	table(func(t TableReport) string { return fmt.Sprintf("%.3f", t.Ratio) })
	p.f("Single sessions: median / worst (how many cost more than passing through):\n\n")
	table(func(t TableReport) string { return fmt.Sprintf("%.2f / %.2f (%d)", t.Median, t.Worst, t.Dearer) })
	p.f("Share of all input tokens that was not sent:\n\n")
	table(func(t TableReport) string { return fmt.Sprintf("%.2f", t.Removed) })
	p.f("Results that went out changed, and how many of them held a name that a later answer uses and nothing sent still has:\n\n")
	table(func(t TableReport) string {
		return fmt.Sprintf("%d, %d (%.0f %%)", t.Faults.Changed, t.Faults.Lost, 100*float64(t.Faults.Lost)/float64(max(1, t.Faults.Changed)))
	})
	return p.err
}

func (s StrategyReport) each() []SessionReport {
	if len(s.Totals) == 0 {
		return nil
	}
	return s.Totals[0].Each
}

func shorten(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}

// printer writes until something goes wrong.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) f(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}
