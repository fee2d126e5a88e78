package aggregate

import (
	"sync"

	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/wire"
)

// subscribedURIs are the URIs that a client subscribed with: updates use the spelling that it used, of the several that
// a resource has.
type subscribedURIs struct {
	mu    sync.Mutex
	asked map[resource]string // guarded by mu
}

// resource is one of a server's, by its own URI.
type resource struct{ server, uri string }

func (w *subscribedURIs) set(server, uri, asked string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.asked == nil {
		w.asked = map[resource]string{}
	}
	w.asked[resource{server, uri}] = asked
}

func (w *subscribedURIs) drop(server, uri string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.asked, resource{server, uri})
}

// outgoing rewrites what a server sends about a resource.
func (w *subscribedURIs) outgoing(server string, m *wire.Message) catalog.Outgoing {
	w.mu.Lock()
	defer w.mu.Unlock()
	if asked, ok := w.asked[resource{server, m.URI}]; ok {
		return catalog.Outgoing{Server: server, Asked: asked, Original: m.URI}
	}
	return catalog.Outgoing{Server: server}
}
