package discover

import (
	"fmt"
	"html"
	"io"
	"slices"
	"strings"
)

// WriteHTML writes the report as one page that loads nothing.
func (r *Report) WriteHTML(out io.Writer) error {
	var b strings.Builder
	t := r.Together
	b.WriteString(pageHead)
	fmt.Fprintf(&b, "<h1>%s paid, %s saved</h1>\n<p>%s, %s in %s. Secateur would have saved <b>%.0f %%</b>.</p>\n",
		money(t.Paid), money(t.saved()), count(t.Sessions, "session"), count(t.Requests, "request"), count(t.Days, "day"), 100*t.savedShare())
	b.WriteString("<h2>Agents</h2>\n<table><tr><th>agent<th>sessions<th>requests<th>days<th>input tokens<th>paid<th>for output<th>pruning saves<th>tokens<th>masking saves<th>tokens<th>together</tr>\n")
	for _, a := range append(slices.Clip(r.Agents), t) {
		fmt.Fprintf(&b, "<tr><td>%s<td>%d<td>%d<td>%d<td>%s<td>%s<td>%s<td>%s<td>%s<td>%s<td>%s<td>%s</tr>\n", html.EscapeString(a.Name), a.Sessions, a.Requests, a.Days, tokens(a.Tokens), money(a.Paid),
			money(a.Output), money(a.Pruning.Dollars), tokens(a.Pruning.Tokens), money(a.Masking.Dollars), tokens(a.Masking.Tokens), money(a.saved()))
	}
	fmt.Fprintf(&b, "</table>\n<p>Paid: what the provider counted, at the list prices of each day, output included. Saved: input alone. %s", Missing)
	if t.Played < sampled {
		fmt.Fprintf(&b, " Sessions with %.0f %% of the cost of input were played.", 100*t.Played)
	}
	b.WriteString("</p>\n<h2>Paid each day</h2>\n")
	r.plotDays(&b)
	b.WriteString("<h2>The most expensive tools</h2>\n")
	bars := make([]bar, len(r.Tools))
	for i, tool := range r.Tools {
		bars[i] = bar{tool.Name, tool.Dollars, fmt.Sprintf("%s, %s, %s tokens", money(tool.Dollars), count(tool.Results, "result"), tokens(tool.Tokens))}
	}
	plotBars(&b, bars)
	b.WriteString("<h2>Instead of …</h2>\n")
	for _, e := range r.Examples {
		fmt.Fprintf(&b, "<p><code>%s</code>, request %d: %s tokens of <code>%s</code></p><pre>%s</pre><p>we would have sent %s</p><pre>%s</pre>\n",
			html.EscapeString(e.File), e.Turn, tokens(e.Before), html.EscapeString(e.Tool), html.EscapeString(visible(e.Was)), tokens(e.After), html.EscapeString(visible(e.Is)))
	}
	if len(r.Skipped) > 0 {
		b.WriteString("<h2>Skipped</h2>\n<ul>")
		for _, s := range r.Skipped {
			fmt.Fprintf(&b, "<li><code>%s</code>: %s", html.EscapeString(visible(s.Path)), html.EscapeString(visible(s.Why)))
		}
		b.WriteString("</ul>\n")
	}
	b.WriteString("</html>\n")
	_, err := io.WriteString(out, b.String())
	return err
}

const pageHead = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>secateur discover</title><style>
body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}
table{border-collapse:collapse}td,th{padding:.2rem .6rem;text-align:right}td:first-child,th:first-child{text-align:left}
pre{background:#8882;padding:.6rem;white-space:pre-wrap;overflow-wrap:anywhere}svg{width:100%;height:auto}svg text{font-size:12px;fill:currentColor}rect{fill:#3a7d44}
</style>
`

// plotDays draws a column for each day.
func (r *Report) plotDays(b *strings.Builder) {
	if len(r.Days) == 0 {
		return
	}
	const width, height, foot = 1000.0, 200.0, 20.0
	most := 0.0
	for _, d := range r.Days {
		most = max(most, d.Paid)
	}
	step := width / float64(len(r.Days))
	fmt.Fprintf(b, `<svg viewBox="0 0 %g %g" role="img" aria-label="dollars paid each day">`, width, height+foot)
	for i, d := range r.Days {
		tall := 0.0
		if most > 0 {
			tall = height * d.Paid / most
		}
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f"><title>%s: %s</title></rect>`, float64(i)*step, height-tall, max(step-1, 0.5), tall, html.EscapeString(d.Day), money(d.Paid))
	}
	last := r.Days[len(r.Days)-1].Day
	fmt.Fprintf(b, `<text x="0" y="%g">%s</text><text x="%g" y="%g" text-anchor="end">%s</text><text x="0" y="12">%s</text></svg>`+"\n",
		height+foot-4, html.EscapeString(r.Days[0].Day), width, height+foot-4, html.EscapeString(last), money(most))
}

// bar is a row of a bar chart.
type bar struct {
	name  string
	value float64
	label string
}

func plotBars(b *strings.Builder, bars []bar) {
	if len(bars) == 0 {
		return
	}
	const width, left, row = 1000.0, 220.0, 24.0
	most := bars[0].value
	fmt.Fprintf(b, `<svg viewBox="0 0 %g %g" role="img" aria-label="dollars for each tool">`, width, row*float64(len(bars)))
	for i, x := range bars {
		long := 0.0
		if most > 0 {
			long = (width - left - 300) * x.value / most
		}
		y := row * float64(i)
		fmt.Fprintf(b, `<text x="%g" y="%g" text-anchor="end">%s</text><rect x="%g" y="%g" width="%.1f" height="%g"/><text x="%.1f" y="%g">%s</text>`,
			left-8, y+16, html.EscapeString(excerptName(x.name)), left, y+3, max(long, 1), row-6, left+long+8, y+16, html.EscapeString(x.label))
	}
	b.WriteString("</svg>\n")
}

// excerptName shortens a name to the width of its column.
func excerptName(name string) string {
	const most = 32
	if r := []rune(visible(name)); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return visible(name)
}
