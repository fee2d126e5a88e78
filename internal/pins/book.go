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

// maxTools bounds of how many tools of a server the definitions are pinned.
const maxTools = 4096

// lookPause is how often at most it is looked whether somebody has approved of a change.
const lookPause = time.Second

// Book is the pins that a running program keeps. Its methods may be used by many goroutines.
type Book struct {
	dir string // "": they end with the program
	log *slog.Logger

	mu      sync.Mutex // guards the field below
	servers map[string]*pages
}

// pages are the pins of one server.
type pages struct {
	content

	seen   mark
	looked time.Time
	broken bool   // the file cannot be read: nothing of the server counts as pinned, and nothing is written over it
	told   string // which tools were changed when Moved was last asked
}

// NewBook makes a book that is kept in a directory; "" for one that is not. Log nil discards.
func NewBook(dir string, log *slog.Logger) *Book {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Book{dir: dir, log: log, servers: map[string]*pages{}}
}

// See takes in tools as a server lists them: what is new is pinned, what is another than the pinned is noted and told.
func (b *Book) See(ctx context.Context, server string, tools [][]byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.open(ctx, server)
	if p.broken {
		return
	}
	dirty := false
	now := time.Now().UTC().Truncate(time.Second)
	for _, tool := range tools {
		name := rawjson.GetText(tool, "name")
		if name == "" {
			continue
		}
		is := Definition(tool)
		was, known := p.Tools[name]
		switch {
		case !known && len(p.Tools) >= maxTools:
			b.log.WarnContext(ctx, "too many tools to pin", "server", server, "most", maxTools)
			continue
		case !known:
			p.Tools[name] = record{Pinned: is, PinnedAt: now}
			if found := Findings(name, is); len(found) > 0 {
				b.log.WarnContext(ctx, "a tool's definition may be meant to deceive", "server", server, "tool", name, "findings", found)
			}
		case is == was.current():
			continue
		case is == was.Pinned: // it is again as it was
			p.Tools[name] = record{Pinned: was.Pinned, PinnedAt: was.PinnedAt}
		default:
			p.Tools[name] = record{Pinned: was.Pinned, PinnedAt: was.PinnedAt, Changed: is, ChangedAt: now}
			b.log.WarnContext(ctx, "a tool's definition is not the one that was pinned; approve of it with 'secateur pins approve'",
				"server", server, "tool", name, "diff", clip(Diff(was.Pinned, is)), "findings", Findings(name, is))
		}
		dirty = true
	}
	if dirty && b.dir != "" {
		if err := write(b.dir, server, p.content); err != nil {
			b.log.ErrorContext(ctx, "pins not kept", "err", err)
			return
		}
		p.seen = markOf(b.dir, server)
	}
}

// State is pinned or changed; "" for a tool that was never seen.
func (b *Book) State(server, tool string) string {
	if b == nil {
		return ""
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.servers[server]
	if p == nil {
		return ""
	}
	r, known := p.Tools[tool]
	if p.broken || r.isChanged() {
		b.follow(server, p)
		r, known = p.Tools[tool]
	}
	switch {
	case p.broken || r.isChanged() || !known && len(p.Tools) >= maxTools:
		return StateChanged
	case !known:
		return ""
	}
	return StatePinned
}

// IsChanged reports whether a tool is another than was pinned, and nobody has approved of that.
func (b *Book) IsChanged(server, tool string) bool { return b.State(server, tool) == StateChanged }

// Moved are the servers whose changed tools are others than when it was last asked, or when they were first seen: something has changed,
// or somebody has approved.
func (b *Book) Moved() (servers []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for server, p := range b.servers {
		b.follow(server, p)
		if now := p.changed(); now != p.told {
			p.told = now
			servers = append(servers, server)
		}
	}
	return servers
}

// changed names the tools that have changed.
func (p *pages) changed() string {
	var tools []string
	for tool, r := range p.Tools {
		if r.isChanged() {
			tools = append(tools, tool)
		}
	}
	slices.Sort(tools)
	return fmt.Sprintf("%v %q", p.broken, tools)
}

// open reads a server's pins, if that has not been done.
func (b *Book) open(ctx context.Context, server string) *pages {
	p := b.servers[server]
	if p != nil {
		b.follow(server, p)
		return p
	}
	p = &pages{content: content{Tools: map[string]record{}}}
	b.servers[server] = p
	defer func() { p.told = p.changed() }()
	if b.dir == "" {
		return p
	}
	p.seen = markOf(b.dir, server)
	c, err := read(b.dir, server)
	if err != nil {
		b.log.ErrorContext(ctx, "pins cannot be read, so that all tools of the server count as changed; delete the file to pin them anew", "err", err)
		p.broken = true
		return p
	}
	p.content = c
	return p
}

// follow reads a server's file again if somebody else has written it.
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

// clip keeps a server from filling the log.
func clip(text string) string {
	const most = 2000
	if len(text) <= most {
		return text
	}
	return text[:most] + "…"
}
