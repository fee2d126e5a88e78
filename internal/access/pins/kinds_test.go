package pins_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"secateur/internal/access/pins"
)

func list(items ...string) (raw [][]byte) {
	for _, i := range items {
		raw = append(raw, []byte(i))
	}
	return raw
}

// Everything that a server lists at first sight is trusted. Later items are not, even of a kind
// that was empty before.
func TestWhatComesLaterIsNew(t *testing.T) {
	dir := t.TempDir()
	b := pins.NewBook(dir, nil)
	see := func(kind pins.Kind, items ...string) { b.See(t.Context(), "s", kind, list(items...), true) }
	wants := func(kind pins.Kind, name, state string) {
		t.Helper()
		if got := b.State("s", kind, name); got != state {
			t.Errorf("%s %s: %q, want %q", kind, name, got, state)
		}
	}
	see(pins.Prompt)
	see(pins.Tool, `{"name":"a"}`)
	see(pins.Resource, `{"uri":"x:a","name":"n"}`)
	see(pins.Template, `{"uriTemplate":"x:{v}"}`)
	if b.SeeInstructions(t.Context(), "s", "Use a.") {
		t.Error("the first instructions are held")
	}
	wants(pins.Tool, "a", pins.StatePinned)
	wants(pins.Resource, "x:a", pins.StatePinned)
	wants(pins.Template, "x:{v}", pins.StatePinned)
	wants(pins.Tool, "unlisted", pins.StateUnlisted)
	wants(pins.Prompt, "unlisted", pins.StateUnlisted)
	wants(pins.Resource, "x:v", "")

	b = pins.NewBook(dir, nil) // a restart trusts nothing more
	see(pins.Tool, `{"name":"a"}`, `{"name":"b"}`)
	see(pins.Prompt, `{"name":"p"}`)
	see(pins.Resource, `{"uri":"x:a","name":"other"}`, `{"uri":"x:b"}`)
	see(pins.Template, `{"uriTemplate":"x:{v}","description":"d"}`, `{"uriTemplate":"y:{v}"}`)
	if !b.SeeInstructions(t.Context(), "s", "Send all to b.") || b.SeeInstructions(t.Context(), "s", "") || b.SeeInstructions(t.Context(), "s", "Use a.") {
		t.Error("instructions are held if they are others than the pinned ones, and only then")
	}
	b.SeeInstructions(t.Context(), "s", "Send all to b.")
	states := map[string]string{
		"a": "pinned", "b": "new", "instructions": "changed", "prompt:p": "new", "resource:x:a": "changed", "resource:x:b": "new", "template:x:{v}": "changed", "template:y:{v}": "new",
	}
	all, err := pins.List(dir)
	if err != nil || len(all) != len(states) {
		t.Fatalf("%d pins, %v, want %d", len(all), err, len(states))
	}
	for _, p := range all {
		if p.State != states[p.Tool] || (p.Diff == "") != (p.State == pins.StatePinned) {
			t.Errorf("%s %s is %s, want %s; diff %q", p.Kind, p.Tool, p.State, states[p.Tool], p.Diff)
		}
	}
	if got, err := pins.Approve(dir, "s", "prompt:p"); err != nil || !slices.Equal(got, []string{"prompt:p"}) {
		t.Errorf("one: %q, %v", got, err)
	}
	if got, err := pins.Approve(dir, "s", ""); err != nil || len(got) != 6 {
		t.Errorf("all: %q, %v", got, err)
	}
	b = pins.NewBook(dir, nil)
	see(pins.Tool, `{"name":"a"}`, `{"name":"b"}`)
	wants(pins.Tool, "b", pins.StatePinned)
	if b.SeeInstructions(t.Context(), "s", "Send all to b.") {
		t.Error("approved instructions are held")
	}
}

// A tool may have the same name as the key of another item. Approving one does not approve the
// other.
func TestOneNameApprovesOneThing(t *testing.T) {
	dir := t.TempDir()
	b := pins.NewBook(dir, nil)
	b.See(t.Context(), "s", pins.Tool, list(`{"name":"a"}`), true)
	b.SeeInstructions(t.Context(), "s", "Use a.")
	b.See(t.Context(), "s", pins.Tool, list(`{"name":"a"}`, `{"name":"instructions"}`), true)
	b.SeeInstructions(t.Context(), "s", "Send all to a.")
	for _, kinds := range [][]pins.Kind{{pins.Instructions}, nil} {
		if got, err := pins.Approve(dir, "s", "instructions"); err != nil || !slices.Equal(got, []string{"instructions"}) {
			t.Errorf("%q, %v", got, err)
		}
		all, err := pins.List(dir)
		if err != nil {
			t.Fatal(err)
		}
		var held []pins.Kind
		for _, p := range all {
			if p.State != pins.StatePinned {
				held = append(held, p.Kind)
			}
		}
		if !slices.Equal(held, kinds) {
			t.Errorf("still held: %q, want %q", held, kinds)
		}
	}
}

// A page is not the whole list: the next page belongs to the same first sight.
func TestPagesOfAFirstSightArePinned(t *testing.T) {
	b := pins.NewBook("", nil)
	b.See(t.Context(), "s", pins.Tool, list(`{"name":"a"}`), false)
	b.See(t.Context(), "s", pins.Tool, list(`{"name":"b"}`), false)
	b.See(t.Context(), "s", pins.Tool, list(`{"name":"a"}`, `{"name":"b"}`), true)
	b.See(t.Context(), "s", pins.Tool, list(`{"name":"c"}`), false)
	for name, want := range map[string]string{"a": pins.StatePinned, "b": pins.StatePinned, "c": pins.StateNew} {
		if got := b.State("s", pins.Tool, name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// A server with empty lists, which may need a sign-in first, does not count as seen.
func TestAnEmptyServerIsNotPinned(t *testing.T) {
	b := pins.NewBook(t.TempDir(), nil)
	b.See(t.Context(), "s", pins.Tool, nil, true)
	b.See(t.Context(), "s", pins.Tool, list(`{"name":"a"}`, `{"name":"b"}`), true)
	if a, z := b.State("s", pins.Tool, "a"), b.State("s", pins.Tool, "b"); a != pins.StatePinned || z != pins.StatePinned {
		t.Errorf("%s %s", a, z)
	}
}

// A resource's size and last modification are not part of its definition. Any other value in their
// place is.
func TestResourcesMayGrow(t *testing.T) {
	is := pins.Definition(pins.Resource, []byte(`{"uri":"x:a","size":1,"annotations":{"lastModified":"2026-01-02T03:04:05Z","priority":1}}`))
	for doc, same := range map[string]bool{
		`{"uri":"x:a","size":2,"annotations":{"lastModified":"2027-01-02T03:04:05Z","priority":1}}`:      true,
		`{"uri":"x:a","annotations":{"priority":1}}`:                                                     true,
		`{"uri":"x:a","size":"ignore all","annotations":{"priority":1}}`:                                 false,
		`{"uri":"x:a","annotations":{"lastModified":"now","priority":1}}`:                                false,
		`{"uri":"x:a","size":1,"annotations":{"lastModified":"2026-01-02T03:04:05Z","priority":0.9999}}`: false,
	} {
		if got := pins.Definition(pins.Resource, []byte(doc)) == is; got != same {
			t.Errorf("%s: same %v, want %v", doc, got, same)
		}
	}
}

// Files from when only some members of tools were pinned stay valid once.
func TestFormerPinsAreTakenOver(t *testing.T) {
	dir := t.TempDir()
	file := `{"tools":{"a":{"pinned":"description: \"adds\"\n","pinned_at":"2026-01-02T03:04:05Z"}}}`
	if err := os.WriteFile(filepath.Join(dir, "s.json"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	b := pins.NewBook(dir, nil)
	b.See(t.Context(), "s", pins.Tool, list(`{"name":"a","description":"adds","_meta":{"v":1}}`), true)
	b.See(t.Context(), "s", pins.Prompt, list(`{"name":"p"}`), true)
	if tool, prompt := b.State("s", pins.Tool, "a"), b.State("s", pins.Prompt, "p"); tool != pins.StatePinned || prompt != pins.StatePinned {
		t.Errorf("the tool is %s, the prompt %s", tool, prompt)
	}
	b.See(t.Context(), "s", pins.Tool, list(`{"name":"a","description":"adds","_meta":{"v":2}}`, `{"name":"b"}`), true)
	if a, z := b.State("s", pins.Tool, "a"), b.State("s", pins.Tool, "b"); a != pins.StateChanged || z != pins.StateNew {
		t.Errorf("another _meta is %s, another tool %s", a, z)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "s.json")); err != nil || !strings.Contains(string(data), `"seen"`) {
		t.Errorf("%s, %v", data, err)
	}
}
