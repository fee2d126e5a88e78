package wire_test

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"secateur/internal/mcp/wire"
)

// SetID produces in place the same message that WithID produces in a new document.
func TestSetID(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		room := rapid.IntRange(0, 12).Draw(t, "room")
		space := rapid.IntRange(0, 3).Draw(t, "white space")
		doc := slices.Concat(bytes.Repeat([]byte{'#'}, room), bytes.Repeat([]byte{' '}, space), []byte(message(t)), bytes.Repeat([]byte{'\n'}, space))
		m, err := wire.ParseServer(doc[room:], 3)
		if err != nil {
			return
		}
		id := wire.StringID(rapid.StringMatching(`[a-z]{0,16}`).Draw(t, "id"))
		want := m.WithID(id)
		was := bytes.Clone(doc)
		fits := !m.ID.IsZero() && len(id.String())-len(m.ID.String()) <= room+space
		if got := m.SetID(doc, id); got != fits {
			t.Fatalf("SetID(%s) of %q = %v", id, was, got)
		} else if !got {
			if !bytes.Equal(doc, was) {
				t.Fatalf("%q became %q", was, doc)
			}
			return
		}
		checkSame(t, m, string(want.Raw), parseServer)
		if !slices.Equal(m.Long, want.Long) || m.ID != want.ID || m.Noted != 3 || m.NoRefs != want.NoRefs {
			t.Fatalf("%+v, want %+v", m, want)
		}
	})
	m, err := wire.ParseServer([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`), 0)
	if err != nil || m.SetID(nil, wire.NumberID(2)) {
		t.Errorf("SetID without memory: %s, %v", m.Raw, err)
	}
}

func TestNoRefs(t *testing.T) {
	for _, c := range []struct {
		rule, result string
		want         bool
	}{
		{"nothing of the kind", `{"content":[{"type":"text","text":"uri taskId \"uri\""}],"structuredContent":{"id":1,"url":"x"}}`, true},
		{"no object at all", `[1,"uri"]`, true},
		{"a link", `{"content":[{"type":"resource_link","uri":"x"}]}`, false},
		{"a task", `{"task":{"taskId":"1"}}`, false},
		{"a page", `{"_meta":{"ui/resourceUri":"ui://x"}}`, false},
		{"written with escapes", `{"content":[{"type":"resource_link","ur\u0069":"x"}]}`, false},
		{"beyond ASCII it may be anything", `{"é":1}`, false},
	} {
		t.Run(c.rule, func(t *testing.T) {
			m, err := wire.ParseServer([]byte(`{"jsonrpc":"2.0","id":1,"result":`+c.result+`}`), 0)
			if err != nil || m.NoRefs != c.want {
				t.Errorf("NoRefs = %v, %v", m.NoRefs, err)
			}
			if other := m.WithResult([]byte(`{"uri":"x"}`)); other.NoRefs {
				t.Error("another result is not known to have none")
			}
		})
	}
}
