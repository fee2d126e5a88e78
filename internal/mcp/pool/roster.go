package pool

import (
	"fmt"
	"time"

	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/routing"
	"secateur/internal/mcp/upstream"
)

// Servers is the set of servers and how their lists are merged.
type Servers struct {
	Settings      []upstream.Settings // in order; disabled ones are listed but never used
	Names         *catalog.Names      // nil: the default ones
	FirstListWait time.Duration       // as in Options
	WaitForAll    bool                // as in Options

	Routes routing.Settings // which sessions receive requests and notifications from servers

	New Builder // nil: the pool's builder
	// Changed lists the ids of the servers to replace, even if their settings are equal. All other
	// known servers keep their connections. It has no effect on new servers.
	Changed []string
}

// roster is the set of servers. It is immutable: a reload replaces it.
type roster struct {
	all     []*server          // in order
	servers []*server          // the enabled ones
	index   map[string]*server // the enabled ones by id

	names         *catalog.Names
	firstListWait time.Duration
	waitForAll    bool
	routes        routing.Settings
	builder       *Builder // nil: the pool's

	// new settings of the servers taken over from the previous roster
	anew map[*server]upstream.Settings
}

// newRoster builds a roster that takes over the unchanged servers of another. It starts nothing. It
// calls foreign builders, so the caller must not hold Pool.mu.
func (f *Pool) newRoster(set Servers, before *roster) (*roster, error) {
	changed := map[string]bool{}
	for _, id := range set.Changed {
		changed[id] = true
	}
	kept := map[string]*server{}
	for _, s := range before.all {
		if !changed[s.settings.ID] {
			kept[s.settings.ID] = s
		}
	}
	r := &roster{index: map[string]*server{}, anew: map[*server]upstream.Settings{}, names: set.Names, firstListWait: set.FirstListWait, waitForAll: set.WaitForAll, routes: set.Routes}
	if r.names == nil {
		r.names = catalog.NewNames(catalog.Default())
	}
	builder := &f.opt.New
	if set.New != nil {
		r.builder, builder = &set.New, &set.New
	}
	known := map[string]bool{}
	for _, one := range set.Settings {
		if known[one.ID] {
			return nil, fmt.Errorf("pool: two servers are called %q", one.ID)
		}
		known[one.ID] = true
		s := kept[one.ID]
		if s != nil {
			r.anew[s] = one
		} else {
			var err error
			if s, err = f.newServer(builder, one); err != nil {
				return nil, err
			}
		}
		r.all = append(r.all, s)
		if !s.settings.Off() {
			r.servers = append(r.servers, s)
			r.index[one.ID] = s
		}
	}
	return r, nil
}

// newServer builds a server with its first connection and starts nothing.
func (f *Pool) newServer(builder *Builder, set upstream.Settings) (*server, error) {
	s := &server{settings: set}
	s.alone = []*server{s}
	if set.Off() {
		return s, nil
	}
	caps := noCapabilities
	if f.opt.Eager {
		caps = allCapabilities
	}
	c, err := f.buildWith(builder, s, need{role: shared, caps: caps})
	if err != nil {
		return nil, err
	}
	s.first = c
	s.install(c)
	return s, nil
}
