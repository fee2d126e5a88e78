package pins

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"secateur/internal/rawjson"
)

// maxTools limits the pinned tools of a server, and separately its other pinned things.
const maxTools = 4096

// lookPause is the minimum interval between two checks of a file for approvals.
const lookPause = time.Second

// Book holds the pins of a running program. It is safe for concurrent use.
type Book struct {
	dir string // "": kept in memory only
	log *slog.Logger

	mu      sync.Mutex // guards the field below
	servers map[string]*pages
}

// pages are the pins of one server.
type pages struct {
	content

	seen   mark
	looked time.Time
	// the file cannot be read: nothing counts as pinned, and the file is not overwritten
	broken bool
	told   map[Kind]string // what was held back at the last call of Moved
}

// NewBook returns a book kept in a directory, or in memory if dir is "". A nil log discards.
func NewBook(dir string, log *slog.Logger) *Book {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Book{dir: dir, log: log, servers: map[string]*pages{}}
}

// See records the items of a kind that a server lists. At first sight it pins them (trust on first
// use). Later it records and logs items that are new or differ from their pin. whole says that
// items is the complete list.
func (b *Book) See(ctx context.Context, server string, kind Kind, items [][]byte, whole bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.open(ctx, server)
	if p.broken {
		return
	}
	first, dirty := p.isFirst(kind), false
	for _, item := range items {
		if name := rawjson.GetText(item, kind.id()); name != "" {
			dirty = b.note(ctx, server, p, kind, name, item, first) || dirty
		}
	}
	if len(p.of(kind)) >= maxTools && len(items) > 0 {
		b.log.WarnContext(ctx, "too many definitions to pin", "server", server, "most", maxTools)
	}
	if _, seen := p.Seen[kind]; whole && !seen {
		p.Seen[kind], dirty = now(), dirty || len(p.Tools)+len(p.Others) > 0
	}
	b.keep(ctx, server, p, dirty)
}

// SeeInstructions records a server's instructions, and reports whether they lack approval.
func (b *Book) SeeInstructions(ctx context.Context, server, text string) (unapproved bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.open(ctx, server)
	if p.broken {
		return true
	}
	_, seen := p.Seen[Instructions]
	dirty := !seen
	if dirty {
		p.Seen[Instructions] = now()
	}
	if text != "" || p.Others[string(Instructions)] != (record{}) {
		dirty = b.note(ctx, server, p, Instructions, "", rawjson.AppendQuoted(nil, text), !seen) || dirty
	}
	b.keep(ctx, server, p, dirty)
	return text != "" && p.Others[string(Instructions)].isChanged()
}

// note records one item, and reports whether anything changed.
func (b *Book) note(ctx context.Context, server string, p *pages, kind Kind, name string, item []byte, first bool) bool {
	is, all, name := Definition(kind, item), p.of(kind), key(kind, name)
	was, known := all[name]
	switch {
	case !known && len(all) >= maxTools:
		return false
	case !known && first:
		all[name] = record{Pinned: is, PinnedAt: now(), Whole: true}
		if found := Findings(name, is); len(found) > 0 {
			b.log.WarnContext(ctx, "a definition may be meant to deceive", "server", server, string(kind), name, "findings", found)
		}
	case !known:
		all[name] = record{Whole: true, Changed: is, ChangedAt: now()}
		b.log.WarnContext(ctx, "a definition that was not there when the server was pinned; approve of it with 'secateur pins approve'",
			"server", server, string(kind), name, "findings", Findings(name, is))
	case is == was.current() && (was.Whole || is != was.Pinned):
		return false
	case is == was.Pinned && !was.isNew(): // back to the pinned definition
		all[name] = record{Pinned: was.Pinned, PinnedAt: was.PinnedAt, Whole: true}
	case !was.Whole && !was.isChanged() && kind == Tool && formerDefinition(item) == was.Pinned:
		all[name] = record{Pinned: is, PinnedAt: was.PinnedAt, Whole: true}
	default:
		all[name] = record{Pinned: was.Pinned, PinnedAt: was.PinnedAt, Whole: true, Changed: is, ChangedAt: now()}
		b.log.WarnContext(ctx, "a definition is not the one that was pinned; approve of it with 'secateur pins approve'",
			"server", server, string(kind), name, "diff", clip(Diff(was.Pinned, is)), "findings", Findings(name, is))
	}
	return true
}

// keep writes a server's pins if they changed.
func (b *Book) keep(ctx context.Context, server string, p *pages, dirty bool) {
	if !dirty || b.dir == "" {
		return
	}
	if err := write(b.dir, server, p.content); err != nil {
		b.log.ErrorContext(ctx, "pins not kept", "err", err)
		return
	}
	p.seen = markOf(b.dir, server)
}

func now() time.Time { return time.Now().UTC().Truncate(time.Second) }

// State returns pinned, changed or new, or unlisted for a tool or prompt that the server never
// listed. It returns "" if nothing is known yet. It also returns "" for an unlisted resource, which
// a template may cover.
func (b *Book) State(server string, kind Kind, name string) string {
	if b == nil {
		return ""
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.servers[server]
	if p == nil {
		return ""
	}
	b.follow(server, p)
	name = key(kind, name)
	r, known := p.of(kind)[name]
	switch {
	case p.broken:
		return StateChanged
	case known:
		return r.state()
	case len(p.of(kind)) >= maxTools:
		return StateNew
	case (kind == Tool || kind == Prompt) && !p.isFirst(kind):
		return StateUnlisted
	}
	return ""
}

// Moved returns the servers and kinds whose held-back items changed since the last call, or since
// first sight. Either something changed, or a person approved.
func (b *Book) Moved() (moved []Move) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for server, p := range b.servers {
		b.follow(server, p)
		held := p.held()
		for _, kind := range []Kind{Tool, Prompt, Resource, Template, Instructions} {
			if held[kind] != p.told[kind] {
				moved = append(moved, Move{server, kind})
			}
		}
		p.told = held
	}
	return moved
}

// Move names a kind of item of a server.
type Move struct {
	Server string
	Kind   Kind
}

// held returns the names of unapproved items, by kind.
func (p *pages) held() map[Kind]string {
	all := map[Kind][]string{}
	for name, r := range p.Tools {
		if r.isChanged() {
			all[Tool] = append(all[Tool], name)
		}
	}
	for name, r := range p.Others {
		if r.isChanged() {
			all[kindOf(name)] = append(all[kindOf(name)], name)
		}
	}
	held := map[Kind]string{}
	for kind, names := range all {
		slices.Sort(names)
		held[kind] = fmt.Sprintf("%q", names)
	}
	if p.broken {
		held[Tool] = "broken"
	}
	return held
}

// open returns a server's pins, and reads them at the first call.
func (b *Book) open(ctx context.Context, server string) *pages {
	p := b.servers[server]
	if p != nil {
		b.follow(server, p)
		return p
	}
	p = &pages{content: newContent()}
	b.servers[server] = p
	defer func() { p.told = p.held() }()
	if b.dir == "" {
		return p
	}
	p.seen = markOf(b.dir, server)
	c, err := read(b.dir, server)
	if err != nil {
		b.log.ErrorContext(ctx, "pins cannot be read, so that all of the server counts as changed; delete the file to pin it again", "err", err)
		p.broken = true
		return p
	}
	p.content = c
	return p
}

// follow reloads a server's file if another process has written it.
func (b *Book) follow(server string, p *pages) {
	if b.dir == "" || time.Since(p.looked) < lookPause {
		return
	}
	p.looked = time.Now()
	if now := markOf(b.dir, server); now != p.seen {
		if c, err := read(b.dir, server); err == nil {
			p.content, p.seen, p.broken = c, now, false
		}
	}
}

// clip shortens a server's text for the log.
func clip(text string) string {
	const most = 2000
	if len(text) <= most {
		return text
	}
	return text[:most] + "…"
}
