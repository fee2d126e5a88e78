package prune

import (
	"reflect"
	"testing"
)

// A text read once has the same plans as one read for each plan.
func TestReadingPlansLikePlan(t *testing.T) {
	texts := map[Source]string{Code: programText(t, 1)[:1<<14], Logs: logText(1 << 13), Docs: docText(1 << 13)}
	for source, text := range texts {
		for _, structure := range []Structure{All, Enclosing} {
			for _, names := range []bool{false, true} {
				req := Request{
					Text: text, Goal: "why does the parser drop the last line of a table", Source: source, Structure: structure, Names: names,
					MinKeepLines: 3, Marker: func(b Block) string { return Marker("prn_R5JT960T52MN9N4FMKV3BW2QZ4", b) },
				}
				reading := Read(req)
				for _, ratio := range []float64{.9, .3, 0, .7, .9, 1} {
					req.MaxPruneRatio = ratio
					if got, want := reading.Plan(ratio), Plan(req); !reflect.DeepEqual(got, want) {
						t.Errorf("%v, %v, names %v: the plan at %v differs from that of a text read anew", source, structure, names, ratio)
					}
				}
			}
		}
	}
}

// Once time has run out, every further plan cuts nothing.
func TestReadingStaysLate(t *testing.T) {
	reading := Read(Request{Text: docText(1 << 14), Source: Docs, Expired: func() bool { return true }})
	for range 2 {
		if res := reading.Plan(.7); !res.TimedOut || len(res.Blocks) > 0 {
			t.Errorf("Plan = %d blocks, timed out %v; want none, true", len(res.Blocks), res.TimedOut)
		}
	}
}
