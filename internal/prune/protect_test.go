package prune

import (
	"strings"
	"testing"
)

func TestWhatStandsBetweenTheDirectivesStays(t *testing.T) {
	filler := strings.Repeat("some other line\nand one more\n", 20)
	for _, c := range []struct {
		name, text  string
		first, last int // protected lines
	}{
		{"a closed region", filler + beginProtected + "\none\n\ntwo\n" + endProtected + "\n" + filler, 41, 45},
		{"directives inside longer lines", filler + "// " + beginProtected + "\none\ntwo\n// " + endProtected + " done\n" + filler, 41, 44},
		{"a region that is never closed", filler + beginProtected + "\none\n\ntwo", 41, 44},
		{"an end without a beginning protects nothing", filler + endProtected + "\n" + filler, 0, 0},
		{"both in one line", filler + beginProtected + " one " + endProtected + "\n" + filler, 41, 41},
	} {
		for _, source := range []Source{Code, Logs, Docs} {
			t.Run(c.name+" in "+source.String(), func(t *testing.T) {
				res := Plan(Request{Text: c.text, Goal: "some other", Source: source, MaxPruneRatio: .9})
				keeps := kept(res)
				for i := c.first; c.first > 0 && i <= c.last; i++ {
					if !keeps[i] {
						t.Errorf("line %d is cut", i)
					}
				}
				if res.Pruned() == 0 {
					t.Error("nothing is cut")
				}
			})
		}
	}
}

func TestRepeatedErrorsAllStayWithAll(t *testing.T) {
	text := noisyLog(50, strings.TrimSuffix(strings.Repeat("ERROR the same again\n", 12), "\n"))
	res := Plan(Request{Text: text, Goal: "fetched part 3", Source: Logs, MaxPruneRatio: .8})
	keeps := kept(res)
	for i := 51; i < 51+12; i++ {
		if !keeps[i] {
			t.Errorf("error line %d is cut", i)
		}
	}
}

func TestALongRunOfOneLineIsCut(t *testing.T) {
	text := "begin\n" + strings.Repeat("waiting for the lock\n", 500) + "end\n"
	for _, source := range []Source{Code, Logs, Docs} {
		res := Plan(Request{Text: text, Goal: "lock", Source: source, MaxPruneRatio: .98, Structure: Enclosing})
		if res.Pruned() < 480 || len(res.Blocks) > 3 {
			t.Errorf("%v: %d lines pruned in %d blocks", source, res.Pruned(), len(res.Blocks))
		}
		if reason := res.Blocks[0].Reason; !strings.HasPrefix(reason, "répétitions (×") {
			t.Errorf("%v: reason %q", source, reason)
		}
	}
}
