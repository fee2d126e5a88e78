package discover

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// Missing names the savings that are not reckoned here.
const Missing = "Not reckoned: repeated results, and tools found instead of listed."

// WriteText writes the report for a person.
func (r *Report) WriteText(out io.Writer) error {
	var b strings.Builder
	t := r.Together
	if t.Requests == 0 {
		b.WriteString("No recorded sessions of Claude Code, Codex or OpenCode were found. Name folders or files: secateur discover DIR…\n")
	} else {
		fmt.Fprintf(&b, "You paid %s in %s. Secateur would have saved %s (%.0f %%).\n\n",
			money(t.Paid), count(t.Days, "day"), money(t.saved()), 100*t.savedShare())
		r.writeAgents(&b)
		fmt.Fprintf(&b, "\nPaid: what the provider counted, at the list prices of each day, output included. Saved: input alone, with the\n"+
			"configuration's pruning and masking, played through the proxy's own code. %s\n", Missing)
		if t.Played < sampled {
			fmt.Fprintf(&b, "Sessions with %.0f %% of the cost of input were played; the others are taken to be alike. --all plays every session.\n", 100*t.Played)
		}
		r.writeTools(&b)
		r.writeExamples(&b)
	}
	r.writeSkipped(&b)
	_, err := io.WriteString(out, b.String())
	return err
}

// sampled is the share of played sessions below which the report says that it is a sample.
const sampled = 0.995

func (a *Agent) saved() float64 { return a.Pruning.Dollars + a.Masking.Dollars }

func (a *Agent) savedShare() float64 {
	if a.Paid <= 0 {
		return 0
	}
	return a.saved() / a.Paid
}

func (r *Report) writeAgents(b *strings.Builder) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "agent\tsessions\trequests\tdays\tinput tokens\tpaid\tfor output\tpruning saves\ttokens\tmasking saves\ttokens\ttogether\t")
	rows := r.Agents
	if len(rows) > 1 {
		rows = append(slices.Clip(rows), r.Together)
	}
	for _, a := range rows {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", a.Name, a.Sessions, a.Requests, a.Days, tokens(a.Tokens), money(a.Paid), money(a.Output),
			money(a.Pruning.Dollars), tokens(a.Pruning.Tokens), money(a.Masking.Dollars), tokens(a.Masking.Tokens), money(a.saved()))
	}
	_ = w.Flush() // a strings.Builder takes everything
}

func (r *Report) writeTools(b *strings.Builder) {
	if len(r.Tools) == 0 {
		return
	}
	b.WriteString("\nThe most expensive tools, by the cost of sending their results:\n\n")
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "tool\tresults\ttokens\tdollars\t")
	for _, t := range r.Tools {
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t\n", visible(t.Name), t.Results, tokens(t.Tokens), money(t.Dollars))
	}
	_ = w.Flush()
}

func (r *Report) writeExamples(b *strings.Builder) {
	for _, e := range r.Examples {
		fmt.Fprintf(b, "\n%s, request %d: instead of %s tokens of %s we would have sent %s:\n%s\n", visible(e.File), e.Turn, tokens(e.Before), visible(e.Tool), tokens(e.After), indent(e.Is))
	}
}

func (r *Report) writeSkipped(b *strings.Builder) {
	if len(r.Unpriced) > 0 {
		fmt.Fprintf(b, "\nNo prices are known for: %s. Their requests are counted and cost nothing here; write [models.NAME.prices].\n", visible(strings.Join(r.Unpriced, ", ")))
	}
	if r.Broken > 0 {
		fmt.Fprintf(b, "\n%s skipped: not JSON.\n", count(r.Broken, "line"))
	}
	if len(r.Skipped) > 0 {
		fmt.Fprintf(b, "\n%s skipped:\n", count(len(r.Skipped), "file"))
	}
	for _, s := range r.Skipped {
		fmt.Fprintf(b, "  %s: %s\n", visible(s.Path), visible(s.Why))
	}
}

// excerptChars is how much of a result an example shows.
const excerptChars = 400

func excerpt(text string) string {
	r := []rune(text)
	if len(r) > excerptChars {
		return string(r[:excerptChars]) + "…"
	}
	return text
}

// aroundMarker is the part of a text around its first marker.
func aroundMarker(text string) string {
	at := strings.Index(text, "⟦")
	if at < 0 {
		return excerpt(text)
	}
	before := []rune(text[:at])
	from := max(0, len(before)-excerptChars/2)
	lead := ""
	if from > 0 {
		lead = "…"
	}
	return lead + string(before[from:]) + excerpt(text[at:])
}

func indent(text string) string {
	return "    " + strings.ReplaceAll(visible(strings.TrimRight(text, "\n")), "\n", "\n    ")
}

// visible takes control characters out of a text, other than line ends and tabs: transcripts hold what programs printed.
func visible(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' && c != '\n' && c != '\t' || c == 0x7f || c >= 0x80 && c < 0xa0 {
			return -1
		}
		return c
	}, text)
}

// money writes dollars; small sums with more digits.
func money(x float64) string {
	if x < 0 {
		return "-" + money(-x)
	}
	if x < 1 {
		return fmt.Sprintf("$%.4f", x)
	}
	return fmt.Sprintf("$%.2f", x)
}

// tokens writes a count in three digits.
func tokens(n float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e4, "k"}} {
		if n >= unit.size || n <= -unit.size {
			if unit.name == "k" {
				return fmt.Sprintf("%.0fk", n/1e3)
			}
			return fmt.Sprintf("%.1f%s", n/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("%.0f", n)
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
