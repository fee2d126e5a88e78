package main

import (
	"strings"
	"testing"
)

// The output of go test and its rows: with variants, with ratios reported by benchmarks, and with
// neither.
func TestEveryBenchmarkHasItsRow(t *testing.T) {
	const printed = `goos: linux
BenchmarkMask/lines/ours-2         	     100	   1000 ns/op	 864.00 MB/s	       0 B/op	       5 allocs/op
BenchmarkMask/lines/copy-2         	     100	    500 ns/op	       0 B/op	       0 allocs/op
BenchmarkRequest/chat/priced/next-2	      10	   3000 ns/op	  1.45 ÷reverse	     900 B/op	      77 allocs/op
BenchmarkRequest/chat/off/next-2   	      10	   2000 ns/op	  1.05 ÷reverse	     900 B/op	      70 allocs/op
BenchmarkStream/priced             	      10	   4000 ns/op	  1.10 ÷reverse	     900 B/op	       7 allocs/op
BenchmarkTurns/small-2             	       1	   5000 ns/op	  1.20 cpu÷least	     30 cpu-ns/op	  1.30 p99÷least	     50 p99-ns	  1.10 ÷least	     900 B/op	       9 allocs/op
BenchmarkPlain-2                   	      10	    400 ns/op	     900 B/op	       3 allocs/op
PASS
`
	var out strings.Builder
	print(&out, read(strings.NewReader(printed)))
	for _, row := range []string{
		"| case | ours | MB/s | allocations | ÷ copy |\n|---|---|---|---|---|\n| lines | 1.0 µs | 864 | 5 | 2.00 |\n",
		"| case | ours | MB/s | allocations | ÷ reverse |\n|---|---|---|---|---|\n| chat/priced/next | 3.0 µs | 0 | 77 | 1.45 |\n| chat/off/next | 2.0 µs | 0 | 70 | 1.05 |\n",
		"| priced | 4.0 µs | 0 | 7 | 1.10 |\n",
		"| small | 5.0 µs | 0 | 9 | 1.10 (cpu 1.20, p99 1.30) |\n",
		"### Plain\n\n| case | ours | MB/s | allocations |\n|---|---|---|---|\n|  | 400 ns | 0 | 3 |\n",
	} {
		if !strings.Contains(out.String(), row) {
			t.Errorf("no row %q in:\n%s", row, out.String())
		}
	}
}
