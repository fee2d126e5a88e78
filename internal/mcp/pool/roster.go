package pool

import (
	"fmt"
	"time"

	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/routing"
	"secateur/internal/mcp/upstream"
)

// Servers are which servers there are, and how their lists are put together.
type Servers struct {
	Settings      []upstream.Settings // in order; disabled ones are known and never used
	Names         *catalog.Names      // nil: the default ones
	FirstListWait time.Duration       // as in Options

	Routes routing.Settings // whom goes to what servers send of their own accord

	New Builder // nil: the one that the pool was made with
	// Changed are the ids of those that are others than before, though they may have the same settings. With New's servers
	// it says nothing.
	Changed []string
}

// roster is the servers that there are. It does not change: a reload puts another in its place.
type roster struct {
	all     []*server          // in order
	servers []*server          // those that are not disabled
	index   map[string]*server // of these, by id

	names         *catalog.Names
	firstListWait time.Duration
	routes        routing.Settings
	builder       *Builder // nil: the pool's

	anew map[*server]upstream.Settings // of those that were taken over, as they are now configured
}

// newRoster builds a roster that takes over the servers of another that are the same in both. It starts nothing. Builders are not
// ours: the pool must not be locked.
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
	r := &roster{index: map[string]*server{}, anew: map[*server]upstream.Settings{}, names: set.Names, firstListWait: set.FirstListWait, routes: set.Routes}
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
		if !s.settings.Disabled {
			r.servers = append(r.servers, s)
			r.index[one.ID] = s
		}
	}
	return r, nil
}

// newServer builds a server with the connection that it begins with, and starts nothing.
func (f *Pool) newServer(builder *Builder, set upstream.Settings) (*server, error) {
	s := &server{settings: set}
	s.alone = []*server{s}
	if set.Disabled {
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
