package prune

import (
	"fmt"
	"strings"
	"testing"
)

// program is a file with a licence and functions of some lines.
func program(functions int) string {
	var b strings.Builder
	b.WriteString("// Copyright of somebody\n" + strings.Repeat("// All rights are reserved, under the following conditions\n", 12) + "package some\n\nimport \"fmt\"\n\n")
	for i := range functions {
		fmt.Fprintf(&b, "// step%d does one step.\nfunc step%d(a, b int) int {\n", i, i)
		for j := range 20 {
			fmt.Fprintf(&b, "\tfmt.Println(\"value %d of the sum\", a*%d+b)\n", j, i*100+j)
		}
		b.WriteString("\treturn a + b\n}\n\n")
	}
	return b.String()
}

func firstPass(text, goal string, ratio float64) Request {
	return Request{Text: text, Goal: goal, Source: Code, MaxPruneRatio: ratio, Structure: Enclosing, Fill: true, Names: true, Marker: shortened}
}

func TestNamedDefinitionStaysWhole(t *testing.T) {
	text := program(40)
	for _, goal := range []string{"src/a.go\nLet me look at step17 now.", "sed -n 1,900p a.go\nThe bug is in `pkg.step17(a, b)`."} {
		out := strings.Join(keptOf(text, Plan(firstPass(text, goal, .98))), "\n")
		_, whole, _ := strings.Cut(text, "// step17 does")
		whole, _, _ = strings.Cut(whole, "\n\n")
		if !strings.Contains(out, "// step17 does"+whole) {
			t.Errorf("%q: step17 is not whole in\n%s", goal, out)
		}
	}
	if n := Read(firstPass(text, "Let me read this file.", .9)).Named(); n != 0 {
		t.Errorf("%d bytes are named by a goal that names nothing", n)
	}
	huge := strings.Replace(program(2), "return a + b\n}", strings.Repeat("\tsum += a * b + c\n", 2000)+"}", 1)
	if res := Plan(firstPass(huge, "look at step0", .9)); float64(res.Pruned()) < .5*float64(res.Lines) {
		t.Errorf("a definition that is most of the text keeps %d of %d lines", res.Kept, res.Lines)
	}
}

func TestLicenceGoesOnFirstPass(t *testing.T) {
	text := program(40)
	if kept := keptOf(text, Plan(firstPass(text, "step3", .9))); strings.Contains(strings.Join(kept, "\n"), "Copyright") {
		t.Errorf("the licence is left: %q", kept[:3])
	}
	if kept := keptOf(text, Plan(Request{Text: text, Goal: "step3", Source: Code, MaxPruneRatio: .9, Structure: Enclosing})); !strings.Contains(kept[0], "Copyright") {
		t.Errorf("elsewhere the head of the file stays: %q", kept[:3])
	}
}

// TestCutsInProgramsAreLarge: people read a program in pieces, so no cut is only a line or two.
func TestCutsInProgramsAreLarge(t *testing.T) {
	text := program(40)
	for _, b := range Plan(firstPass(text, "Let me read this file.", .5)).Blocks {
		if b.Count() < 3 {
			t.Errorf("a cut of %d lines at %d", b.Count(), b.Start)
		}
	}
}
