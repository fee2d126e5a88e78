package internal_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The table "Where is …?" of docs/architecture.md names files and what they hold; both must be there.
func TestWhereIs(t *testing.T) {
	page, err := os.ReadFile("../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), "## Where is …?")
	table, _, _ = strings.Cut(table, "\n## ")
	rows := regexp.MustCompile("`((?:[a-z0-9]+/)+[a-z0-9_]+\\.go)`: ((?:`[A-Za-z]+`(?:, )?)+)").FindAllStringSubmatch(table, -1)
	if !found || len(rows) < 20 {
		t.Fatalf("docs/architecture.md has no table of where things are, or %d answers only", len(rows))
	}
	for _, row := range rows {
		source, err := os.ReadFile(row[1])
		if err != nil {
			t.Errorf("docs/architecture.md, Where is …?: %v", err)
			continue
		}
		for name := range strings.SplitSeq(strings.TrimSuffix(row[2], ", "), ", ") {
			name = strings.Trim(name, "`")
			declared := regexp.MustCompile(`(?m)^(?:func (?:\([^)]*\) )?|type |var |const |\t)` + name + `\b`)
			if !declared.Match(source) {
				t.Errorf("docs/architecture.md, Where is …?: %s has no %s: correct the row", row[1], name)
			}
		}
	}
}
