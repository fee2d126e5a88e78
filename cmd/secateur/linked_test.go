package main

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
)

// A program that may call methods by a name it finds out at run time (reflect.Value.MethodByName, as text/template does) is linked
// with every exported method of every type: a third more of it, in the file and in memory.
func TestTheLinkerLeavesOutMethodsThatNobodyCalls(t *testing.T) {
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags=-dumpdep", "-o", os.DevNull, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	edges, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, edges)
	}
	if !bytes.Contains(edges, []byte("main.main -> ")) {
		t.Fatalf("the linker told %d bytes of what it keeps, and not of main", len(edges))
	}
	for edge := range bytes.Lines(edges) {
		if bytes.Contains(edge, []byte("<ReflectMethod>")) {
			t.Fatalf("the linker has to keep all exported methods: %s", edge)
		}
	}
}
