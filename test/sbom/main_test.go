package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The bill of materials names every linked module with its licence.
func TestTheBillOfMaterialsNamesEveryModule(t *testing.T) {
	dir := t.TempDir()
	if err := run(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "secateur.cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	var b bom
	if err := json.Unmarshal(raw, &b); err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, c := range b.Components {
		listed[c.Name] = true
		if len(c.Licences) != 1 || c.Licences[0].License.ID == "" {
			t.Errorf("%s has no licence", c.Name)
		}
	}
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range b.Components {
		if !strings.Contains(string(mod), c.Name+" "+c.Version) {
			t.Errorf("%s %s is listed and not in go.mod", c.Name, c.Version)
		}
	}
	if !listed["github.com/spf13/cobra"] || listed["pgregory.net/rapid"] {
		t.Errorf("listed are %v, want what is linked and not what only tests use", listed)
	}
	notices, err := os.ReadFile(filepath.Join(dir, "THIRD_PARTY_NOTICES"))
	if err != nil || strings.Count(string(notices), "\n--- ") < len(listed) {
		t.Errorf("notices: %v, %d texts for %d modules", err, strings.Count(string(notices), "\n--- "), len(listed))
	}
}
