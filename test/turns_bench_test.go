package test

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// oneCall is the call that is posted repeatedly.
const oneCall = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{"path":"/tmp/x"}}}`

// way is one of the paths to a server.
type way struct {
	name  string
	what  request
	proxy *process // nil: none in between
}

// request is the request of a load.
type request struct {
	url, body string
	header    http.Header // besides the content type
}

const (
	// turn is about how long each way is used at a time. It is short compared with changes of the
	// machine's speed. It is long compared with the beginning and end of a turn, where not all
	// connections are busy.
	turn = 60 * time.Millisecond
	// rounds is the number of turns of each way.
	rounds = 20
	// disturbed is how many rounds are dropped: those that took longest in total.
	disturbed = rounds / 4
)

// byTurns measures the ways by turns: a few calls on each, repeatedly, so that changes of the
// machine's speed affect all of them. The first way is ours. It reports our time. It also reports
// the ratios to the others of the time, of the 99th percentile, and of the total processor time of
// clients, proxy and server. The rounds that took longest over all ways are dropped, because
// something else was running. The others count completely, including the proxies' garbage
// collection. The garbage of clients and servers is collected between the turns.
func byTurns(b *testing.B, scene string, conns, size int, ways []way) {
	b.Helper()
	b.Run(scene, func(b *testing.B) {
		defer debug.SetGCPercent(debug.SetGCPercent(-1))
		// GC is off, but memory stays limited.
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 30))
		var loads []*load
		for _, w := range ways {
			l := newLoad(w, conns)
			defer l.close()
			loads = append(loads, l)
		}
		for b.Loop() { // once: it takes longer than a benchmark must
			rotate(b, loads, size)
		}
	})
}

// rotate runs the turns of each load, and reports.
func rotate(b *testing.B, loads []*load, size int) {
	b.Helper()
	for _, l := range loads {
		l.take(b, 4*l.conns) // warms up
		l.turns = nil
	}
	calls := loads[0].calibrate(b)
	allocated := loads[0].allocations(b, calls)
	for range rounds {
		for _, l := range loads {
			runtime.GC()
			l.turns = append(l.turns, l.take(b, calls))
		}
	}
	counted := undisturbed(loads)
	ours := loads[0].seen(counted, calls)
	b.ReportMetric(ours.time, "ns/op")
	b.ReportMetric(float64(size)/ours.time*1e3, "MB/s")
	b.ReportMetric(ours.cpu, "cpu-ns/op")
	b.ReportMetric(ours.p99, "p99-ns")
	b.ReportMetric(0, "B/op")
	b.ReportMetric(allocated, "allocs/op")
	for _, l := range loads {
		s := l.seen(counted, calls)
		b.Logf("%-12s %9.1f µs, processors %9.1f µs, of that the proxy %9.1f µs; p99 %9.1f µs", l.name, s.time/1e3, s.cpu/1e3, s.own/1e3, s.p99/1e3)
		if l != loads[0] {
			b.ReportMetric(ours.time/s.time, "÷"+l.name)
			b.ReportMetric(ours.cpu/s.cpu, "cpu÷"+l.name)
			b.ReportMetric(ours.p99/s.p99, "p99÷"+l.name)
		}
	}
}

// undisturbed returns the rounds that count.
func undisturbed(loads []*load) []int {
	order := make([]int, rounds)
	for i := range order {
		order[i] = i
	}
	total := func(round int) (sum time.Duration) {
		for _, l := range loads {
			sum += l.turns[round].time
		}
		return sum
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(total(a), total(b)) })
	return order[:rounds-disturbed]
}

// load is the calls on one way.
type load struct {
	way
	client *http.Client
	conns  int
	turns  []taken
}

// taken is the result of one turn.
type taken struct {
	time     time.Duration
	cpu, own time.Duration // processor time: total, and the proxy's
	calls    []time.Duration
}

// seen is what a call takes, in nanoseconds.
type seen struct{ time, cpu, own, p99 float64 }

func newLoad(w way, conns int) *load {
	return &load{way: w, conns: conns, client: &http.Client{Transport: newTransport()}}
}

func (l *load) close() { l.client.CloseIdleConnections() }

// calibrate returns how many calls a turn has.
func (l *load) calibrate(b *testing.B) int {
	b.Helper()
	calls := l.conns
	for {
		t := l.take(b, calls)
		if t.time >= turn/4 {
			return max(l.conns, int(float64(calls)*float64(turn)/float64(t.time)))
		}
		calls *= 2
	}
}

// take makes that many calls on all connections together.
func (l *load) take(b *testing.B, calls int) taken {
	b.Helper()
	took := make([]time.Duration, calls)
	var next atomic.Int64
	var done sync.WaitGroup
	rest, own := cpuTime(b, os.Getpid()), l.ownTime(b)
	began := time.Now()
	for range l.conns {
		done.Go(func() {
			for i := next.Add(1) - 1; i < int64(calls); i = next.Add(1) - 1 {
				start := time.Now()
				if err := l.once(b); err != nil {
					b.Error(l.name, err)
					return
				}
				took[i] = time.Since(start)
			}
		})
	}
	done.Wait()
	t := taken{time: time.Since(began), own: l.ownTime(b) - own, calls: took}
	t.cpu = cpuTime(b, os.Getpid()) - rest + t.own
	if b.Failed() {
		b.FailNow()
	}
	return t
}

func (l *load) once(b *testing.B) error {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, l.what.url, strings.NewReader(l.what.body))
	if err != nil {
		return err
	}
	req.Header = l.what.header.Clone()
	if req.Header == nil {
		req.Header = http.Header{}
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := l.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", res.StatusCode)
	}
	_, err = io.Copy(io.Discard, res.Body)
	return err
}

// allocations returns the program's own count of allocations per call.
func (l *load) allocations(b *testing.B, calls int) float64 {
	b.Helper()
	first := allocations(b, l.proxy.url)
	before := allocations(b, l.proxy.url)
	calls = max(calls, 200) // so that other work meanwhile matters little
	l.take(b, calls)
	// Without those of the query.
	return (allocations(b, l.proxy.url) - before - (before - first)) / float64(calls)
}

// seen sums up the rounds that count.
func (l *load) seen(rounds []int, calls int) seen {
	var s seen
	var all []time.Duration
	for _, r := range rounds {
		t := l.turns[r]
		s.time, s.cpu, s.own = s.time+float64(t.time), s.cpu+float64(t.cpu), s.own+float64(t.own)
		all = append(all, t.calls...)
	}
	n := float64(len(rounds) * calls)
	slices.Sort(all)
	return seen{s.time / n, s.cpu / n, s.own / n, float64(all[len(all)*99/100])}
}

// ownTime returns the proxy's processor time so far.
func (l *load) ownTime(b *testing.B) time.Duration {
	b.Helper()
	if l.proxy == nil {
		return 0
	}
	return cpuTime(b, l.proxy.pid)
}

// cpuTime returns the processor time of a process so far. Unlike wall time it does not include
// other programs.
func cpuTime(b *testing.B, pid int) time.Duration {
	b.Helper()
	const ofAllThreads = 2 // CPUCLOCK_SCHED, as in clock_getcpuclockid
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|ofAllThreads), &t); err != nil {
		b.Fatal(err)
	}
	return time.Duration(t.Nano())
}
