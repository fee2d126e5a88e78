package discover

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/klauspost/compress/gzip"
	"golang.org/x/sync/errgroup"

	"secateur/internal/llm/bill"
	"secateur/internal/llm/replay"
)

// Options say how to read and play.
type Options struct {
	Prices        replay.Prices
	Pruning, Both replay.Strategy // pruning alone; pruning and masking
	All           bool            // play every session, however much there is

	Progress func(files int, bytes int64) // told now and then how much was read; nil: nobody. Several at a time
}

// Bounds on what is played. Reading is a hundred times faster than playing, and a played session is in memory.
const (
	playAll   = 48 << 20 // so much is played whole; of more a sample of this size
	playMax   = 16 << 20 // the largest file that is played
	playAlone = 2 << 20  // of larger files one at a time is played
)

// reader reads files and adds them up.
type reader struct {
	Options

	share float64    // of the files that are played
	large sync.Mutex // held while a large file is in memory

	mu     sync.Mutex // guards the fields below
	seen   map[uint64]struct{}
	report *Report
	files  int
}

// Run reads the files. A file that cannot be read is skipped and named in the report.
func Run(ctx context.Context, files []File, skipped []Skipped, o Options) (*Report, error) {
	total := int64(0)
	for _, f := range files {
		total += f.Size
	}
	r := &reader{Options: o, share: 1, seen: make(map[uint64]struct{}), report: newReport(skipped)}
	if total > playAll && !o.All {
		r.share = playAll / float64(total)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, f := range files {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			r.file(ctx, f)
			return ctx.Err()
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	r.report.finish()
	return r.report, nil
}

// file reads one file, and plays it if it belongs to the sample.
func (r *reader) file(ctx context.Context, f File) {
	l := &ledger{agent: f.Agent}
	plays := f.Size <= playMax && (r.share >= 1 || hash(f.Path) < r.share)
	if plays && f.Size > playAlone {
		r.large.Lock()
		defer r.large.Unlock()
	}
	sessions, err := r.read(f, l, plays)
	if err == nil && l.broken > 0 && len(l.requests) == 0 {
		err = errors.New("no session in it that can be read")
	}
	var weighed []replay.Weighed
	if err == nil && plays {
		weighed = r.play(ctx, sessions)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.report.Skipped = append(r.report.Skipped, Skipped{f.Path, cause(err)})
	} else {
		r.report.Broken += l.broken
	}
	r.report.add(f.Path, l.agent, r.fresh(l.requests), weighed, r.Prices)
	if r.files++; r.Progress != nil {
		r.Progress(r.files, 0)
	}
}

// fresh leaves out requests that another file has told: a resumed session repeats what was said before.
func (r *reader) fresh(all []asked) []asked {
	kept := all[:0]
	for _, a := range all {
		if a.id != "" {
			h := fnv.New64a()
			_, _ = io.WriteString(h, a.id)
			if _, told := r.seen[h.Sum64()]; told {
				continue
			}
			r.seen[h.Sum64()] = struct{}{}
		}
		kept = append(kept, a)
	}
	return kept
}

// hash spreads paths evenly over 0 to 1.
func hash(path string) float64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, path)
	return float64(h.Sum64()%1e6) / 1e6
}

func (r *reader) passed(n int) {
	if r.Progress != nil {
		r.Progress(0, int64(n))
	}
}

// read books what a file tells; its sessions are only made if they are to be played.
func (r *reader) read(f File, l *ledger, plays bool) (sessions []replay.Session, err error) {
	if f.isDir {
		notes, broken, err := readFolder(f.Path)
		l.broken = broken
		r.passed(int(f.Size))
		if err != nil {
			return nil, err
		}
		l.ask(notes)
		if !plays || len(l.requests) == 0 {
			return nil, nil
		}
		return session(filepath.Base(f.Path), notes)
	}
	file, err := os.Open(f.Path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var stream io.Reader = file
	if strings.HasSuffix(f.Path, ".gz") {
		z, err := gzip.NewReader(file)
		if err != nil {
			return nil, fmt.Errorf("not gzip: %w", err)
		}
		stream = z
	}
	if !plays {
		return nil, l.read(stream, r.passed)
	}
	data, err := io.ReadAll(io.LimitReader(stream, 4*playMax))
	if err != nil {
		return nil, err
	}
	if notes := readExport(data); notes != nil {
		r.passed(len(data))
		l.ask(notes)
		return session(filepath.Base(f.Path), notes)
	}
	if err := l.read(bytes.NewReader(data), r.passed); err != nil {
		return nil, err
	}
	sessions, err = replay.Read(bytes.NewReader(data), filepath.Base(f.Path))
	if err != nil { // a line that was being written when the agent ended, for one
		var broken int
		data, broken = validLines(data)
		l.broken += broken
		sessions, err = replay.Read(bytes.NewReader(data), filepath.Base(f.Path))
	}
	return sessions, err
}

// validLines returns the lines that are JSON objects, and how many are not.
func validLines(data []byte) (kept []byte, broken int) {
	for line := range bytes.Lines(data) {
		switch v := jsontext.Value(bytes.TrimSpace(line)); {
		case len(v) == 0:
		case v.Kind() == '{' && v.IsValid(lenient):
			kept = append(kept, line...)
		default:
			broken++
		}
	}
	return kept, broken
}

// play weighs sessions. One that cannot be played counts as paid and saves nothing.
func (r *reader) play(ctx context.Context, sessions []replay.Session) (all []replay.Weighed) {
	for i := range sessions {
		w, known, err := replay.Weigh(ctx, &sessions[i], r.Pruning, r.Both, replay.Options{Ruler: replay.Tokens, Prices: r.Prices})
		if err == nil && known {
			all = append(all, w)
		}
	}
	return all
}

// price returns the cost of a request; false: the prices of its model are not known.
func price(a asked, of replay.Prices) (input, output float64, known bool) {
	var p bill.Prices
	if p, known = of(a.model, a.day); !known {
		return 0, 0, false
	}
	input, output = a.cost(p)
	return input, output, true
}
