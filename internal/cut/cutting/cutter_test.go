package cutting_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"secateur/internal/cut/cutting"
	"secateur/internal/cut/mask"
	"secateur/internal/mcp/upstream"
	"secateur/internal/store/originals"
)

// server is one that answered.
type server struct {
	settings upstream.Settings
	name     string // what it calls itself; "": it does not tell
}

func (s server) ID() string                  { return "s" }
func (s server) Settings() upstream.Settings { return s.settings }
func (s server) Peer(context.Context) (*upstream.Peer, error) {
	if s.name == "" {
		return nil, errors.New("no handshake")
	}
	return &upstream.Peer{ServerName: s.name}, nil
}

// full is a store that takes nothing.
type full struct{ originals.Store }

func (full) Put(context.Context, string, string) (string, error) { return "", originals.ErrFull }

func TestKeep(t *testing.T) {
	no := false
	doc := []byte(`{"content":[{"type":"text","text":"` + strings.Repeat("x", 100) + `"}]}`)
	masker, err := mask.New(mask.Settings{MaxChars: 20, HeadChars: 5, TailChars: 5, Marker: "[{id}]"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		rule   string
		server server
		tool   string
		full   bool
		cut    bool
	}{
		{"a long text is cut", server{name: "files"}, "read", false, true},
		{"of no tool too", server{}, "", false, true},
		{"what cannot be kept is not cut", server{name: "files"}, "read", true, false},
		{"a server with mask = false is spared", server{settings: upstream.Settings{Mask: &no}, name: "files"}, "read", false, false},
		{"a tool of mask_exempt is spared", server{settings: upstream.Settings{MaskExempt: []string{"re*"}}, name: "files"}, "read", false, false},
		{"a pruner's recovery is spared", server{name: mask.PrunerName}, "recover_chars", false, false},
		{"a pruner's other tools are not", server{name: mask.PrunerName}, "health", false, true},
		{"a recovery of somebody else is not", server{name: "files"}, "recover_text", false, true},
		{"nor of who does not tell", server{}, "recover_text", false, true},
	} {
		t.Run(c.rule, func(t *testing.T) {
			var store originals.Store = &originals.Memory{MaxBytes: 1 << 20, TTL: time.Hour}
			if c.full {
				store = full{store}
			}
			cutter, err := cutting.New(cutting.Options{Masker: masker, Originals: store, Door: "test"})
			if err != nil {
				t.Fatal(err)
			}
			kept := cutter.Keep(t.Context(), cutting.Call{Tenant: "team-a", Server: c.server, Tool: c.tool}, doc, func(m *mask.Masker) []mask.Cut { return m.TextCuts(doc, m.LongString()) })
			if !c.cut {
				if len(kept.IDs) > 0 {
					t.Errorf("%q was cut", kept.IDs)
				}
				return
			}
			if len(kept.IDs) != 1 {
				t.Fatalf("ids %q, want one", kept.IDs)
			}
			if got, want := string(kept.Append(nil)), `{"content":[{"type":"text","text":"xxxxx[`+kept.IDs[0]+`]xxxxx"}]}`; got != want {
				t.Errorf("%s, want %s", got, want)
			}
			if text, err := store.Get(t.Context(), "team-a", kept.IDs[0]); err != nil || text != strings.Repeat("x", 100) {
				t.Errorf("Get = %q, %v", text, err)
			}
		})
	}
}

func TestEveryCutIsToldOnceItIsMade(t *testing.T) {
	doc := []byte(`{"content":[{"type":"text","text":"` + strings.Repeat("some words ", 100) + `"},{"type":"text","text":"short"}]}`)
	masker, err := mask.New(mask.Settings{MaxChars: 20, HeadChars: 5, TailChars: 5, Marker: "[{id}]"})
	if err != nil {
		t.Fatal(err)
	}
	var told []cutting.Made
	c, err := cutting.New(cutting.Options{
		Masker: masker, Originals: &originals.Memory{MaxBytes: 1 << 20, TTL: time.Hour}, Door: "mcp", Observe: func(m cutting.Made) { told = append(told, m) },
	})
	if err != nil {
		t.Fatal(err)
	}
	kept := c.Keep(t.Context(), cutting.Call{Server: server{name: "files"}, Tool: "read"}, doc, func(m *mask.Masker) []mask.Cut { return m.TextCuts(doc, m.LongString()) })
	if len(told) != 0 {
		t.Error("a cut is told before it is made")
	}
	kept.Append(nil)
	if len(told) != 1 {
		t.Fatalf("%d cuts told, want one", len(told))
	}
	m := told[0]
	if m.ID != kept.IDs[0] || m.Door != "mcp" || m.Server != "s" || m.Tool != "read" || m.Chars != 1100 || m.Kept != 10 || m.Tokens < 100 || m.Tokens > 600 {
		t.Errorf("told %+v", m)
	}
}
