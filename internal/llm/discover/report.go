package discover

import (
	"cmp"
	"maps"
	"slices"

	"secateur/internal/llm/replay"
)

// Report is what the sessions of a machine cost, and what would have been saved.
type Report struct {
	Agents   []*Agent  `json:"agents"`
	Together *Agent    `json:"together"`
	Days     []Day     `json:"days"`
	Tools    []Tool    `json:"tools"` // the ten most expensive
	Examples []Example `json:"examples"`
	Unpriced []string  `json:"unpriced_models,omitempty"` // their requests are counted, and not priced
	Skipped  []Skipped `json:"skipped,omitempty"`
	Broken   int       `json:"broken_lines,omitempty"` // that were skipped

	by    map[string]*Agent
	days  map[string]*Day
	tools map[string]*Tool
}

// Agent is the bill of one agent.
type Agent struct {
	Name     string  `json:"name"`
	Sessions int     `json:"sessions"`
	Requests int     `json:"requests"`
	Days     int     `json:"days"`
	Tokens   float64 `json:"input_tokens"`
	Paid     float64 `json:"paid_dollars"`
	Output   float64 `json:"paid_for_output_dollars"`
	Pruning  Saving  `json:"pruning"` // what pruning on first pass would have saved
	Masking  Saving  `json:"masking"` // what masking would have saved on top of it
	Played   float64 `json:"played"`  // the share of the input's cost whose sessions were played: the savings of the rest are taken to be alike

	days                  map[string]bool
	playedPaid            float64 // for the input of files that were played
	through, pruned, both replay.Weight
}

// Saving is money and tokens of input.
type Saving struct {
	Dollars float64 `json:"dollars"`
	Tokens  float64 `json:"tokens"`
}

// Day is what was paid on a day.
type Day struct {
	Day  string  `json:"day"`
	Paid float64 `json:"paid_dollars"`
}

// Tool is what the results of a tool cost.
type Tool struct {
	Name    string  `json:"name"`
	Results int     `json:"results"`
	Tokens  float64 `json:"tokens"` // of its results, each counted once
	Dollars float64 `json:"dollars"`
}

// Example is a result that pruning would have cut.
type Example struct {
	File string `json:"file"`
	Turn int    `json:"turn"`
	Tool string `json:"tool"`

	Before float64 `json:"tokens_before"`
	After  float64 `json:"tokens_after"`
	Was    string  `json:"was"`
	Is     string  `json:"is"`
}

func newReport(skipped []Skipped) *Report {
	return &Report{Skipped: skipped, Together: &Agent{Name: "together"}, by: map[string]*Agent{}, days: map[string]*Day{}, tools: map[string]*Tool{}}
}

// add takes a file.
func (r *Report) add(path, agent string, requests []asked, weighed []replay.Weighed, prices replay.Prices) {
	if len(requests) == 0 {
		return
	}
	agent = cmp.Or(agent, Other)
	a := r.by[agent]
	if a == nil {
		a = &Agent{Name: agent, days: map[string]bool{}}
		r.by[agent] = a
	}
	a.Sessions++
	paid := 0.0
	for _, q := range requests {
		a.Requests++
		a.Tokens += q.usage.Input
		a.days[q.day] = true
		input, output, known := price(q, prices)
		if !known {
			if !slices.Contains(r.Unpriced, q.model) {
				r.Unpriced = append(r.Unpriced, q.model)
			}
			continue
		}
		paid += input
		a.Paid += input + output
		a.Output += output
		d := r.days[q.day]
		if d == nil {
			d = &Day{Day: q.day}
			r.days[q.day] = d
		}
		d.Paid += input + output
	}
	var through float64
	for _, w := range weighed {
		through += w.Through.Dollars
	}
	if through <= 0 {
		return
	}
	a.playedPaid += paid
	for _, w := range weighed {
		part := paid * w.Through.Dollars / through // of what this file cost
		a.through.Add(w.Through)
		a.pruned.Add(w.Pruned)
		a.both.Add(w.Both)
		for _, t := range w.Tools {
			r.tool(t, part)
		}
		for _, c := range w.Cuts {
			r.Examples = append(r.Examples, Example{path, c.Turn, c.Tool, c.Before, c.After, excerpt(c.Was), aroundMarker(c.Is)})
		}
	}
	r.keepExamples()
}

func (r *Report) tool(w replay.ToolWeight, paid float64) {
	t := r.tools[w.Tool]
	if t == nil {
		t = &Tool{Name: w.Tool}
		r.tools[w.Tool] = t
	}
	t.Results += w.Results
	t.Tokens += w.Tokens
	t.Dollars += w.Share * paid
}

// keepExamples keeps the three largest cuts, of different files where there are so many.
func (r *Report) keepExamples() {
	slices.SortStableFunc(r.Examples, func(a, b Example) int {
		return cmp.Or(cmp.Compare(b.Before-b.After, a.Before-a.After), cmp.Compare(a.File, b.File), cmp.Compare(a.Turn, b.Turn))
	})
	var first, again []Example
	for _, e := range r.Examples {
		if slices.ContainsFunc(first, func(f Example) bool { return f.File == e.File }) {
			again = append(again, e)
		} else {
			first = append(first, e)
		}
	}
	all := slices.Concat(first, again)
	r.Examples = all[:min(3, len(all))]
}

// finish adds up.
func (r *Report) finish() {
	t := r.Together
	for _, name := range slices.Sorted(maps.Keys(r.by)) {
		a := r.by[name]
		a.Days = len(a.days)
		input := a.Paid - a.Output
		if a.through.Dollars > 0 {
			a.Pruning = Saving{input * (1 - a.pruned.Dollars/a.through.Dollars), a.Tokens * (1 - a.pruned.Tokens/a.through.Tokens)}
			a.Masking = Saving{input * (a.pruned.Dollars - a.both.Dollars) / a.through.Dollars, a.Tokens * (a.pruned.Tokens - a.both.Tokens) / a.through.Tokens}
		}
		if input > 0 {
			a.Played = a.playedPaid / input
		}
		r.Agents = append(r.Agents, a)
		t.Sessions, t.Requests, t.Tokens = t.Sessions+a.Sessions, t.Requests+a.Requests, t.Tokens+a.Tokens
		t.Paid, t.Output, t.playedPaid = t.Paid+a.Paid, t.Output+a.Output, t.playedPaid+a.playedPaid
		t.Pruning.add(a.Pruning)
		t.Masking.add(a.Masking)
	}
	if input := t.Paid - t.Output; input > 0 {
		t.Played = t.playedPaid / input
	}
	for _, name := range slices.Sorted(maps.Keys(r.days)) {
		r.Days = append(r.Days, *r.days[name])
	}
	t.Days = len(r.Days)
	scale := 1.0
	if t.Played > 0 {
		scale = 1 / t.Played
	}
	for _, tool := range r.tools {
		tool.Dollars *= scale
		r.Tools = append(r.Tools, *tool)
	}
	slices.SortFunc(r.Tools, func(a, b Tool) int { return cmp.Or(cmp.Compare(b.Dollars, a.Dollars), cmp.Compare(a.Name, b.Name)) })
	const most = 10
	r.Tools = r.Tools[:min(most, len(r.Tools))]
	slices.Sort(r.Unpriced)
	slices.SortFunc(r.Skipped, func(a, b Skipped) int { return cmp.Compare(a.Path, b.Path) })
}

func (s *Saving) add(t Saving) { s.Dollars, s.Tokens = s.Dollars+t.Dollars, s.Tokens+t.Tokens }
