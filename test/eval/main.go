// Command eval measures the pruner on the evaluation data: how much of what a goal needs survives.
//
// It reads the folder named by EVALDATA, default ../shared/evaldata. It prints the results of the
// built-in models next to the baselines. It also prints those of models that have not seen the
// project they are judged on. It writes docs/pruning-quality.md. Run it from the repository's root:
// go run ./test/eval
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"secateur/internal/prune"
	"secateur/test/eval/cases"
	"secateur/test/eval/fit"
)

var ratios = []float64{.3, .5, .7, .9}

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "eval:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("eval", flag.ContinueOnError)
	pred := flags.String("pred", "", "also write predictions here, one JSON object a line")
	by := flags.String("by", "", "group by subset, lang or repo")
	set := flags.String("set", "", "only this set")
	types := flags.Bool("types", false, "only the table of types")
	first := flags.Bool("first", false, "only what is lost on first pass")
	edits := flags.Bool("edits", false, "only what is left of the lines that are edited next")
	results := flags.Bool("results", false, "only what is left of MCP results")
	tools := flags.Bool("tools", false, "only the ranker of tool search; writes docs/tool-search.md")
	folds := flags.Int("folds", 6, "parts for judging on unseen projects; 0: do not")
	doc := flags.String("doc", filepath.Join("docs", "pruning-quality.md"), "where to write the report; empty: nowhere")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *results {
		recorded, err := loadResults(resultsFile())
		if err != nil {
			return err
		}
		writeResults(out, recorded)
		return nil
	}
	if *tools {
		return evaluateTools(out, filepath.Join("docs", "tool-search.md"))
	}
	all, err := cases.Load(cases.Folder())
	if err != nil {
		return err
	}
	everything := slices.Clone(all)
	if *first {
		f, err := measureFirstPass(sessionsFolder())
		fmt.Fprintf(out, "%+v\n", f)
		return err
	}
	if *edits {
		rows, err := unseenEdits(all, *folds)
		printEdits(out, rows)
		return err
	}
	if *types {
		printTypes(out, typeTable(context.Background(), all))
		return nil
	}
	if *set != "" {
		all = slices.DeleteFunc(all, func(c *cases.Case) bool { return c.Set != *set })
	}
	e := &evaluation{by: *by, results: map[key][]measure{}, spent: map[key]time.Duration{}, predictions: io.Discard}
	if *pred != "" {
		f, err := os.Create(*pred)
		if err != nil {
			return err
		}
		defer f.Close()
		e.predictions = f
	}
	for i, c := range all {
		if err := e.judge(c.WithTask()); err != nil {
			return err
		}
		if err := e.judgeWrong(c, otherGoal(all, i)); err != nil {
			return err
		}
	}
	if *folds > 0 {
		used, err := cases.Sessions(sessionsFolder(), kindOf)
		if err != nil {
			return err
		}
		if err := e.judgeUnseen(all, used, *folds); err != nil {
			return err
		}
	}
	e.print(out)
	if *doc == "" || *folds == 0 || *by != "" || *set != "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(*doc), 0o755); err != nil { //nolint:gosec // documentation
		return err
	}
	if e.first, err = measureFirstPass(sessionsFolder()); err != nil {
		return err
	}
	if e.edits, err = unseenEdits(everything, *folds); err != nil {
		return err
	}
	e.types = typeTable(context.Background(), everything)
	if e.recorded, err = loadResults(resultsFile()); err != nil {
		return err
	}
	return os.WriteFile(*doc, e.document(), 0o644) //nolint:gosec // documentation
}

func kindOf(_, text string) string { return prune.Guess("", text).String() }

// key identifies one row of the results.
type key struct {
	set, group, method string
	ratio              float64
}

// evaluation collects results.
type evaluation struct {
	by          string
	results     map[key][]measure
	spent       map[key]time.Duration
	predictions io.Writer
	types       []typeRow
	first       firstPass
	edits       []survival
	recorded    []*resultCase
}

// The methods measured.
const (
	every    = "every k-th line"
	headTail = "head + tail"
	unseen   = ", unseen projects"
	wrong    = "another case's goal"
)

// judge prunes one case in every way.
func (e *evaluation) judge(c *cases.Case) error {
	source, err := prune.ParseSource(c.SourceType)
	if err != nil {
		return err
	}
	s := newSheet(c)
	for _, ratio := range ratios {
		e.add(c, every, ratio, s.score(c, everyKth(len(s.lines), ratio), ratio))
		e.add(c, headTail, ratio, s.score(c, headAndTail(len(s.lines), ratio), ratio))
		for _, st := range []prune.Structure{prune.Enclosing, prune.All} {
			begin := time.Now()
			res := prune.Plan(prune.Request{Text: c.Text, Goal: c.Goal, Source: source, MaxPruneRatio: ratio, Structure: st, Marker: fit.Marker})
			took := time.Since(begin)
			e.spent[key{c.Set, c.Group(e.by), st.String(), ratio}] += took
			kept := keptLines(res)
			e.add(c, st.String(), ratio, s.judge(c, res, ratio))
			if err := e.predict(c, st.String(), ratio, kept, took); err != nil {
				return err
			}
		}
	}
	return nil
}

// otherGoal returns the goal of another case of the same set, preferably of another project.
func otherGoal(all []*cases.Case, i int) string {
	for d := 1; d < len(all); d++ {
		if c := all[(i+d)%len(all)]; c.Set == all[i].Set && c.Repo != all[i].Repo {
			return c.WithTask().Goal
		}
	}
	return ""
}

// judgeWrong prunes a case for another case's goal. The remaining gold then shows a prior, not an
// answer.
func (e *evaluation) judgeWrong(c *cases.Case, goal string) error {
	source, err := prune.ParseSource(c.SourceType)
	if err != nil {
		return err
	}
	s := newSheet(c)
	for _, ratio := range ratios {
		res := prune.Plan(prune.Request{Text: c.Text, Goal: goal, Source: source, MaxPruneRatio: ratio, Structure: prune.Enclosing, Marker: fit.Marker})
		e.add(c, wrong, ratio, s.judge(c, res, ratio))
	}
	return nil
}

// judgeUnseen prunes every case with a model that has not seen its project.
func (e *evaluation) judgeUnseen(all, used []*cases.Case, folds int) error {
	for _, name := range []string{"code", "docs", "logs"} {
		set := fit.Chosen(name)
		data, err := fit.Measure(fit.Course(name, all, used), set.Bins, nil)
		if err != nil {
			return err
		}
		scores := data.HeldOut(set, folds)
		for _, s := range data.Samples {
			if !s.Judge {
				continue
			}
			sheet := newSheet(s.Case)
			for _, ratio := range ratios {
				for _, st := range []prune.Structure{prune.Enclosing, prune.All} {
					e.add(s.Case, st.String()+unseen, ratio, sheet.judge(s.Case, s.Plan(scores, ratio, st), ratio))
				}
			}
		}
	}
	return nil
}

func (e *evaluation) add(c *cases.Case, method string, ratio float64, m measure) {
	k := key{c.Set, c.Group(e.by), method, ratio}
	e.results[k] = append(e.results[k], m)
}

type prediction struct {
	ID     string  `json:"id"`
	Method string  `json:"method"`
	Ratio  float64 `json:"ratio"`
	Kept   []int   `json:"kept"`
	Ms     float64 `json:"ms"`
}

func (e *evaluation) predict(c *cases.Case, method string, ratio float64, kept []bool, took time.Duration) error {
	if e.predictions == io.Discard {
		return nil
	}
	p := prediction{ID: c.ID, Method: method, Ratio: ratio, Ms: float64(took.Microseconds()) / 1000}
	for i := 1; i < len(kept); i++ {
		if kept[i] {
			p.Kept = append(p.Kept, i)
		}
	}
	line, err := json.Marshal(p)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.predictions, "%s\n", line)
	return err
}

// keptLines returns for each line, from 1, whether a plan keeps it.
func keptLines(res prune.Result) []bool {
	kept := make([]bool, res.Lines+1)
	for i := range kept {
		kept[i] = true
	}
	for _, b := range res.Blocks {
		for i := b.Start; i <= b.End; i++ {
			kept[i] = false
		}
	}
	return kept
}

// everyKth keeps evenly spaced lines, as many as the ratio leaves.
func everyKth(n int, ratio float64) []bool {
	kept := make([]bool, n+1)
	k := n - int(ratio*float64(n)+1e-9)
	for i := range k {
		kept[1+i*n/k] = true
	}
	return kept
}

// headAndTail keeps the same number of lines at both ends.
func headAndTail(n int, ratio float64) []bool {
	kept := make([]bool, n+1)
	k := n - int(ratio*float64(n)+1e-9)
	for i := range k {
		if i%2 == 0 {
			kept[1+i/2] = true
		} else {
			kept[n-i/2] = true
		}
	}
	return kept
}

// keys returns the rows in display order.
func (e *evaluation) keys() []key {
	keys := make([]key, 0, len(e.results))
	for k := range e.results {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b key) int {
		return strings.Compare(fmt.Sprint(a.set, a.group, a.ratio, a.method), fmt.Sprint(b.set, b.group, b.ratio, b.method))
	})
	return keys
}
