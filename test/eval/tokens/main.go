// Command tokens fits the token estimate to o200k on the evaluation data and reports its error. It
// is a separate module, so that the tokenizer stays out of the program.
//
// Run it in its folder: go run . [-write], or go run . -vocabulary for the tables of
// internal/llm/bpe.
package main

import (
	"bufio"
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/tiktoken-go/tokenizer"

	"secateur/internal/llm/tokens"
	"secateur/test/eval/cases"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "tokens:", err)
		os.Exit(1)
	}
}

// piece is a text with counted tokens.
type piece struct {
	set   string
	kind  tokens.Kind
	text  string
	count int
	fit   bool // used for fitting; the others judge
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("tokens", flag.ContinueOnError)
	saved := flags.Bool("saved", false, "judge the estimate of what pruning saves instead")
	write := flags.Bool("write", false, "write the fitted weights into internal/llm/tokens")
	vocabulary := flags.Bool("vocabulary", false, "write the vocabulary into internal/llm/bpe instead")
	if err := flags.Parse(args); err != nil {
		return err
	}
	root := filepath.Join("..", "..", "..")
	if *vocabulary {
		return writeVocabulary(filepath.Join(root, "internal", "llm", "bpe"))
	}
	dir := os.Getenv("EVALDATA")
	if dir == "" {
		dir = filepath.Join(root, "..", "shared", "evaldata")
	}
	pieces, err := gather(dir)
	if err != nil {
		return err
	}
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		return err
	}
	if *saved {
		all, err := cases.Load(filepath.Join(dir, "prune"))
		if err != nil {
			return err
		}
		return judgeSaved(out, all, codec)
	}
	for i := range pieces {
		if pieces[i].count, err = codec.Count(pieces[i].text); err != nil {
			return err
		}
	}
	if *write {
		table := fitAll(pieces)
		judge(out, pieces, func(p *piece) float64 { return apply(table[p.kind], p.text) })
		for i := range pieces { // already judged; the written table is fitted to everything
			pieces[i].fit = true
		}
		table = fitAll(pieces)
		return os.WriteFile(filepath.Join(root, "internal", "llm", "tokens", "weights.go"), source(table), 0o644) //nolint:gosec // source code
	}
	judge(out, pieces, func(p *piece) float64 { return float64(tokens.Estimate(p.text, p.kind)) })
	return nil
}

// gather takes texts from every set: whole cases, and messages and records of the recorded sessions
// as JSON.
func gather(dir string) ([]piece, error) {
	all, err := cases.Load(filepath.Join(dir, "prune"))
	if err != nil {
		return nil, err
	}
	kinds := map[string]tokens.Kind{"code": tokens.Code, "docs": tokens.Prose, "logs": tokens.Logs}
	var out []piece
	held := map[string]bool{}
	for i, c := range all {
		if _, ok := held[c.Repo]; !ok {
			held[c.Repo] = len(held)%2 == 0
		}
		set := c.Set
		if c.Set == "logs" {
			set = "logs " + strings.SplitN(c.Subset, "-", 2)[0]
		}
		text := strings.ToValidUTF8(c.Text[:min(len(c.Text), 24000)], "")
		out = append(out, piece{set: set, kind: kinds[c.SourceType], text: text, fit: held[c.Repo]})
		if i%4 == 0 {
			if markers := markersOf(c, text); markers != "" {
				out = append(out, piece{set: "markers " + c.SourceType, kind: kinds[c.SourceType], text: markers, fit: held[c.Repo]})
			}
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "sessions", "*.jsonl.gz"))
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		lines, err := jsonLines(name)
		if err != nil {
			return nil, err
		}
		for i, l := range lines {
			out = append(out, piece{set: "json", kind: tokens.JSON, text: strings.ToValidUTF8(l[:min(len(l), 24000)], ""), fit: i%2 == 0})
		}
	}
	for language, text := range samples {
		for _, kind := range []tokens.Kind{tokens.Prose, tokens.Code, tokens.Logs, tokens.JSON} {
			out = append(out, piece{set: "script " + language, kind: kind, text: text, fit: true})
		}
	}
	return out, nil
}

func jsonLines(name string) (lines []string, err error) {
	f, err := os.Open(name) //nolint:gosec // the operator names the folder
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	s := bufio.NewScanner(z)
	s.Buffer(nil, 64<<20)
	for s.Scan() {
		lines = append(lines, s.Text())
	}
	return lines, s.Err()
}

// judge prints the mean absolute error per set, for the pieces not used for fitting and for all.
func judge(out io.Writer, pieces []piece, estimate func(*piece) float64) {
	type sum struct{ err, bias, n, unseen, unseenN float64 }
	sums := map[string]*sum{}
	var order []string
	for i := range pieces {
		p := &pieces[i]
		if strings.HasPrefix(p.set, "script") && p.kind != tokens.Prose {
			continue
		}
		if sums[p.set] == nil {
			sums[p.set] = &sum{}
			order = append(order, p.set)
		}
		e := estimate(p)/float64(p.count) - 1
		s := sums[p.set]
		s.err += math.Abs(e)
		s.bias += e
		s.n++
		if !p.fit {
			s.unseen += math.Abs(e)
			s.unseenN++
		}
	}
	fmt.Fprintf(out, "%-16s %5s %8s %8s %8s\n", "set", "n", "error", "unseen", "bias")
	for _, name := range order {
		s := sums[name]
		fmt.Fprintf(out, "%-16s %5.0f %8.3f %8.3f %+8.3f\n", name, s.n, s.err/s.n, s.unseen/s.unseenN, s.bias/s.n)
	}
}
