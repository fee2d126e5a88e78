package pool

import (
	"strings"
	"sync"

	"secateur/internal/mcp/era"
	"secateur/internal/mcp/upstream"
)

// fanout is the members on a connection, and what each wants to hear.
type fanout struct {
	mu      sync.Mutex
	members map[*Member]map[string]struct{} // with the resources that each has subscribed to; nil: none
	subs    map[string]*subscription        // by the server's URI
	session int                             // counts how often the server was there anew
	told    level                           // what the server was told since it came up; 0: nothing
	asked   bool                            // some member has ever chosen a level
}

// subscription is what members have in common who subscribed to the same resource. Its fields are guarded by the
// fanout's lock, but for telling.
type subscription struct {
	uri     string
	members map[*Member]struct{}
	telling singleflight
	told    bool  // the server knows of it
	err     error // why it does not
}

// maxSubscriptions bounds those of a member on a connection.
const maxSubscriptions = 1024

func (a *fanout) init() {
	a.members = map[*Member]map[string]struct{}{}
	a.subs = map[string]*subscription{}
}

// restart forgets what the server was told, since it is another one.
func (a *fanout) restart() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.session++
	a.told = 0
	for _, sub := range a.subs {
		sub.told, sub.err = false, nil
	}
}

// add takes a member in, with the resources that it had subscribed to elsewhere.
func (a *fanout) add(m *Member, uris []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.members[m] = nil
	a.asked = a.asked || m.level.Load() != 0
	for _, uri := range uris {
		a.join(m, uri)
	}
}

// remove takes a member out and returns the resources that it had subscribed to.
func (a *fanout) remove(m *Member) (uris []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for uri := range a.members[m] {
		uris = append(uris, uri)
		delete(a.subs[uri].members, m)
	}
	delete(a.members, m)
	return uris
}

// subscribe adds a resource to a member's, if it is not among them. It fails if the member is not here, or has too many.
func (a *fanout) subscribe(m *Member, uri string) (sub *subscription, twice bool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	has, here := a.members[m]
	_, twice = has[uri]
	switch {
	case !here:
		return nil, false, errMoved
	case !twice && len(has) >= maxSubscriptions:
		return nil, false, ErrTooMany
	}
	return a.join(m, uri), twice, nil
}

// join makes a member one of a subscription's.
func (a *fanout) join(m *Member, uri string) *subscription {
	sub := a.subs[uri]
	if sub == nil {
		sub = &subscription{uri: uri, members: map[*Member]struct{}{}}
		a.subs[uri] = sub
	}
	sub.members[m] = struct{}{}
	if a.members[m] == nil {
		a.members[m] = map[string]struct{}{}
	}
	a.members[m][uri] = struct{}{}
	return sub
}

// unsubscribe takes a resource from a member; nil if it had not subscribed to it.
func (a *fanout) unsubscribe(m *Member, uri string) *subscription {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, has := a.members[m][uri]; !has {
		return nil
	}
	delete(a.members[m], uri)
	delete(a.subs[uri].members, m)
	return a.subs[uri]
}

// everyone are the members that hear anything.
func (a *fanout) everyone() []*Member {
	return a.those(func(*Member) bool { return true })
}

// loggedTo are those who want to hear a log message of this level. Who has not chosen one hears all that the server
// sends on its own, and no debug messages that others have asked for.
func (a *fanout) loggedTo(l level) []*Member {
	return a.those(func(m *Member) bool {
		from := level(m.level.Load())
		if from == 0 && a.asked {
			from = levelInfo
		}
		return l == 0 || l >= from
	})
}

func (a *fanout) those(wanted func(*Member) bool) (found []*Member) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for m := range a.members {
		if m.observer != nil && wanted(m) {
			found = append(found, m)
		}
	}
	return found
}

// subscribedTo are those who subscribed to a resource, or to one that it is a part of.
func (a *fanout) subscribedTo(uri string) (found []*Member) {
	a.mu.Lock()
	defer a.mu.Unlock()
	seen := map[*Member]struct{}{}
	collect := func(uri string) {
		sub := a.subs[uri]
		if sub == nil {
			return
		}
		for m := range sub.members {
			if _, twice := seen[m]; !twice && m.observer != nil {
				seen[m] = struct{}{}
				found = append(found, m)
			}
		}
	}
	collect(uri)
	for i := range len(uri) {
		if strings.IndexByte("/?#", uri[i]) >= 0 {
			collect(uri[:i])
			if uri[i] == '/' && i+1 < len(uri) {
				collect(uri[:i+1]) // a folder may have been named with the slash
			}
		}
	}
	return found
}

// eraOf is the era that a connection speaks, legacy where that is not known.
func eraOf(p *upstream.Peer) era.Era {
	if p == nil {
		return era.Legacy
	}
	return p.Era
}
