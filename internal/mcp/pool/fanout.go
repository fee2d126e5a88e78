package pool

import (
	"strings"
	"sync"

	"secateur/internal/mcp/era"
	"secateur/internal/mcp/upstream"
)

// fanout tracks the members on a connection and which notifications each one wants. Its fields are
// guarded by mu.
type fanout struct {
	mu      sync.Mutex
	members map[*Member]map[string]struct{} // with each member's subscribed resources; nil: none
	subs    map[string]*subscription        // keyed by the server's URI
	session int                             // counts the server's handshakes
	told    level                           // the level set since the server came up; 0: none
	asked   bool                            // some member has ever chosen a level
}

// subscription is a resource with all its subscribed members. Its fields are guarded by the
// fanout's lock, except telling.
type subscription struct {
	uri     string
	members map[*Member]struct{}
	telling singleflight
	told    bool  // the server knows the subscription
	err     error // why it does not
}

// maxSubscriptions limits a member's subscriptions on a connection.
const maxSubscriptions = 1024

func (a *fanout) init() {
	a.members = map[*Member]map[string]struct{}{}
	a.subs = map[string]*subscription{}
}

// restart forgets what the server was told, because it has a new session.
func (a *fanout) restart() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.session++
	a.told = 0
	for _, sub := range a.subs {
		sub.told, sub.err = false, nil
	}
}

// add adds a member with the resources it had subscribed to elsewhere.
func (a *fanout) add(m *Member, uris []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.members[m] = nil
	a.asked = a.asked || m.level.Load() != 0
	for _, uri := range uris {
		a.join(m, uri)
	}
}

// remove removes a member and returns its subscribed resources.
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

// subscribe adds a resource to a member's subscriptions. twice reports whether it was already
// subscribed. It fails if the member is not on this connection or has too many.
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

// join adds a member to a subscription. The caller holds mu.
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

// unsubscribe removes a resource from a member's subscriptions; nil if it was not subscribed.
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

// everyone returns all members with an observer.
func (a *fanout) everyone() []*Member {
	return a.those(func(*Member) bool { return true })
}

// loggedTo returns the members that want a log message of this level. A member without a chosen
// level gets everything the server sends by default, but no debug messages that others requested.
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

// subscribedTo returns the members subscribed to a resource or to one of its parents.
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

// eraOf returns the era of a connection; legacy if unknown.
func eraOf(p *upstream.Peer) era.Era {
	if p == nil {
		return era.Legacy
	}
	return p.Era
}
