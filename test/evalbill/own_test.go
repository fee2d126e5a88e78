package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"secateur/test/eval/cases"
)

// A fresh clone has no other data.
func TestTheDataOfThisRepositoryCanBeEvaluated(t *testing.T) {
	t.Setenv("EVALDATA", "../evaldata")
	all, err := cases.Load(cases.Folder())
	if err != nil || len(all) < 20 {
		t.Errorf("%d cases, %v", len(all), err)
	}
	for _, c := range all {
		if lines := strings.Count(c.Text, "\n") + 1; len(c.Gold) == 0 || c.Gold[len(c.Gold)-1] > lines {
			t.Errorf("%s: gold lines %v of %d", c.ID, c.Gold, lines)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out bytes.Buffer
	if err := run(ctx, &out, options{only: "own/0", model: "claude-sonnet-4-5", tokenizer: "word pieces"}); err != nil || !strings.Contains(out.String(), "1 runs, 7 requests") {
		t.Errorf("%v: %s", err, out.String())
	}
}
