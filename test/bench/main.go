// Command bench runs the benchmarks and prints each case beside its limits, as ratios.
//
// A benchmark is named Benchmark<Subject>/<case>/<variant>. The variant "ours" is compared with
// every other variant of the same case in the same run. This cancels the machine's speed and noise.
// A subject without that variant does its own comparison. Each of its benchmarks is a case, and a
// metric named "÷limit" is the ratio to that limit; "cpu÷limit" and "p99÷limit" may come with it.
package main

import (
	"bufio"
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const ours = "ours"

func main() {
	run := flag.String("run", ".", "which benchmarks, as go test -bench takes it")
	count := flag.Int("count", 1, "how often each is run; the median counts")
	duration := flag.String("benchtime", "1s", "how long each takes")
	flag.Parse()
	if err := bench(context.Background(), *run, *count, *duration, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench(ctx context.Context, run string, count int, duration string, out io.Writer) error {
	packages := flag.Args()
	if len(packages) == 0 {
		packages = []string{"./internal/...", "./test/..."}
	}
	args := append([]string{"test", "-run", "^$", "-bench", run, "-benchmem", "-count", strconv.Itoa(count), "-benchtime", duration}, packages...)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	results := read(io.TeeReader(pipe, os.Stderr))
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("go test: %w", err)
	}
	print(out, results)
	return nil
}

// sample is one line of go test's output.
type sample struct {
	subject, scene, variant string
	nsPerOp, mbPerS, allocs float64
	cpuPerOp, p99           float64           // 0: not measured
	ratios                  map[string]ratios // reported by the benchmark itself, by limit
	more                    string            // its other metrics
}

// ratios are ours relative to a limit's. 0: not measured.
type ratios struct{ time, cpu, p99 float64 }

// mark is the part of a ratio's unit before the limit's name and after the quantity.
const mark = "÷"

var line = regexp.MustCompile(`^Benchmark([^/\s]+?)(?:/(\S+?))?(?:-\d+)?\s+\d+\s+(.*)$`)

func read(r io.Reader) []sample {
	var found []sample
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		m := line.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		s := sample{subject: m[1], scene: m[2], ratios: map[string]ratios{}}
		fields := strings.Fields(m[3])
		for i := 0; i+1 < len(fields); i += 2 {
			value, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				continue
			}
			switch fields[i+1] {
			case "ns/op":
				s.nsPerOp = value
			case "MB/s":
				s.mbPerS = value
			case "allocs/op":
				s.allocs = value
			case "cpu-ns/op":
				s.cpuPerOp = value
			case "p99-ns":
				s.p99 = value
			case "B/op":
			default:
				if of, limit, ok := strings.Cut(fields[i+1], mark); ok {
					s.ratios[limit] = s.ratios[limit].with(of, value)
					continue
				}
				s.more += fmt.Sprintf(" %s %s", fields[i], fields[i+1])
			}
		}
		found = append(found, s)
	}
	for _, subject := range inOrder(found, func(s sample) string { return s.subject }) {
		splitVariants(found, subject)
	}
	return found
}

// splitVariants separates the variant from the names of a subject that has "ours" among them.
func splitVariants(all []sample, subject string) {
	compared := slices.ContainsFunc(all, func(s sample) bool { return s.subject == subject && strings.HasSuffix(s.scene, "/"+ours) })
	for i, s := range all {
		if s.subject != subject {
			continue
		}
		all[i].variant = ours
		if at := strings.LastIndexByte(s.scene, '/'); compared && at >= 0 {
			all[i].scene, all[i].variant = s.scene[:at], s.scene[at+1:]
		}
	}
}

// print writes one table per subject: a row for each case with our values, then the ratio to each
// limit.
func print(out io.Writer, all []sample) {
	for _, subject := range inOrder(all, func(s sample) string { return s.subject }) {
		mine := keep(all, func(s sample) bool { return s.subject == subject })
		limits := inOrder(keep(mine, func(s sample) bool { return s.variant != ours }), func(s sample) string { return s.variant })
		for _, s := range mine {
			for _, limit := range slices.Sorted(maps.Keys(s.ratios)) {
				if !slices.Contains(limits, limit) {
					limits = append(limits, limit)
				}
			}
		}
		fmt.Fprintf(out, "\n### %s\n\n| case | ours | MB/s | allocations |", subject)
		for _, l := range limits {
			fmt.Fprintf(out, " ÷ %s |", l)
		}
		fmt.Fprintf(out, "\n|---|---|---|---|%s\n", strings.Repeat("---|", len(limits)))
		for _, scene := range inOrder(mine, func(s sample) string { return s.scene }) {
			own, ok := median(mine, scene, ours)
			if !ok {
				continue
			}
			fmt.Fprintf(out, "| %s | %s%s | %.0f | %.0f |", scene, human(own.nsPerOp), own.more, own.mbPerS, own.allocs)
			for _, l := range limits {
				if told, ok := own.ratios[l]; ok {
					fmt.Fprintf(out, " %s |", told)
				} else if limit, ok := median(mine, scene, l); ok {
					fmt.Fprintf(out, " %s |", compare(own, limit))
				} else {
					fmt.Fprint(out, " |")
				}
			}
			fmt.Fprintln(out)
		}
	}
}

// compare returns our time relative to the limit's and, if measured, our processor time and the
// 99th percentile. Processor time is steadier on a busy machine.
func compare(own, limit sample) ratios {
	r := ratios{time: own.nsPerOp / limit.nsPerOp}
	if limit.cpuPerOp > 0 {
		r.cpu = own.cpuPerOp / limit.cpuPerOp
	}
	if limit.p99 > 0 {
		r.p99 = own.p99 / limit.p99
	}
	return r
}

func (r ratios) with(of string, value float64) ratios {
	switch of {
	case "":
		r.time = value
	case "cpu":
		r.cpu = value
	case "p99":
		r.p99 = value
	}
	return r
}

func (r ratios) String() string {
	var more []string
	if r.cpu > 0 {
		more = append(more, fmt.Sprintf("cpu %.2f", r.cpu))
	}
	if r.p99 > 0 {
		more = append(more, fmt.Sprintf("p99 %.2f", r.p99))
	}
	if len(more) == 0 {
		return fmt.Sprintf("%.2f", r.time)
	}
	return fmt.Sprintf("%.2f (%s)", r.time, strings.Join(more, ", "))
}

func median(all []sample, scene, variant string) (sample, bool) {
	runs := keep(all, func(s sample) bool { return s.scene == scene && s.variant == variant })
	if len(runs) == 0 {
		return sample{}, false
	}
	slices.SortFunc(runs, func(a, b sample) int { return cmp.Compare(a.nsPerOp, b.nsPerOp) })
	return runs[len(runs)/2], true
}

func keep(all []sample, want func(sample) bool) (kept []sample) {
	for _, s := range all {
		if want(s) {
			kept = append(kept, s)
		}
	}
	return kept
}

// inOrder lists the distinct names in order of appearance.
func inOrder(all []sample, name func(sample) string) (names []string) {
	for _, s := range all {
		if n := name(s); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

func human(ns float64) string {
	switch {
	case ns >= 1e6:
		return fmt.Sprintf("%.2f ms", ns/1e6)
	case ns >= 1e3:
		return fmt.Sprintf("%.1f µs", ns/1e3)
	default:
		return fmt.Sprintf("%.0f ns", ns)
	}
}
