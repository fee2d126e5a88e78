package config_test

import (
	"bytes"
	"os"
	"regexp"
	"testing"

	"secateur/internal/config"
)

// The recipes of docs/access.md are valid configurations.
func TestRecipesLoad(t *testing.T) {
	doc, err := os.ReadFile("../../docs/access.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```toml\n(.*?)```").FindAllSubmatch(doc, -1)
	if len(blocks) < 3 {
		t.Fatalf("%d recipes", len(blocks))
	}
	secrets := func(name string) (string, bool) {
		return "0123456789abcdef0123456789abcdef", bytes.Contains(doc, []byte("${"+name+"}"))
	}
	for _, b := range blocks {
		if _, mistakes := config.Load("recipe.toml", b[1], config.Options{Lookup: secrets}); len(mistakes) > 0 {
			t.Errorf("%v in\n%s", mistakes, b[1])
		}
	}
}
