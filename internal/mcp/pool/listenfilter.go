// The notifications to subscribe to: protocol revision 2026-07-28, the filter of
// subscriptions/listen.

package pool

import (
	"slices"

	"secateur/internal/mcp/era"
	"secateur/internal/rawjson"
)

// filter is the set of notifications that we want from a server.
type filter struct {
	tools, prompts, resources bool // changes of these lists
	uris                      []string
}

// filter returns the notifications that we want, and the server's current session.
func (c *Conn) filter() (filter, int) {
	uris, session := c.fanout.wanted()
	if eraOf(c.peer.Load()) != era.Modern {
		return filter{}, session
	}
	offers := c.offers()
	return filter{offers.toolsChanged, offers.promptsChanged, offers.resourcesChanged, uris}, session
}

// wanted returns the resources that members have subscribed to, sorted.
func (a *fanout) wanted() (uris []string, session int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for uri, sub := range a.subs {
		if len(sub.members) > 0 {
			uris = append(uris, uri)
		} else {
			delete(a.subs, uri) // a modern server is told only the current ones
		}
	}
	slices.Sort(uris)
	return uris, a.session
}

func (w filter) empty() bool { return !w.tools && !w.prompts && !w.resources && len(w.uris) == 0 }

func (w filter) same(other filter) bool {
	return w.tools == other.tools && w.prompts == other.prompts && w.resources == other.resources && slices.Equal(w.uris, other.uris)
}

// params returns the params of the subscriptions/listen request.
func (w filter) params() []byte {
	b := []byte(`{"notifications":{`)
	member := func(name string) {
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = append(rawjson.AppendQuoted(b, name), ':')
	}
	for _, list := range []struct {
		wanted bool
		name   string
	}{{w.tools, "toolsListChanged"}, {w.prompts, "promptsListChanged"}, {w.resources, "resourcesListChanged"}} {
		if list.wanted {
			member(list.name)
			b = append(b, "true"...)
		}
	}
	if len(w.uris) > 0 {
		member("resourceSubscriptions")
		for i, uri := range w.uris {
			b = rawjson.AppendQuoted(append(b, "[,"[min(i, 1)]), uri)
		}
		b = append(b, ']')
	}
	return append(b, "}}"...)
}
