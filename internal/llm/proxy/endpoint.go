package proxy

import (
	"strings"

	"secateur/internal/llm/chat"
)

// endpoint is a path that conversations are posted to, below a provider's base.
type endpoint struct {
	path   string
	format chat.Format
	free   bool // it counts tokens, which costs nothing
	replay bool // it counts or compacts a conversation: it gets what was sent of it, and nothing more is masked

	compacts bool // its newest results are pruned, as with any first pass
}

var endpoints = []endpoint{
	{path: "/chat/completions", format: chat.Completions},
	{path: "/messages", format: chat.Messages},
	{path: "/messages/count_tokens", format: chat.Messages, free: true, replay: true},
	{path: "/responses", format: chat.Responses},
	{path: "/responses/compact", format: chat.Responses, replay: true, compacts: true},
	{path: "/responses/input_tokens", format: chat.Responses, free: true, replay: true},
}

// endpointOf finds the endpoint of a path. One that only looks unlike an endpoint's is its, too.
func endpointOf(path string) (endpoint, bool) {
	below, isV1 := strings.CutPrefix(path, "/v1")
	below = strings.TrimRight(below, "/")
	for _, e := range endpoints {
		if e.path == below && (isV1 || e.format == chat.Completions) {
			return e, true
		}
	}
	return endpoint{}, false
}

func isBelow(path, root string) bool { return path == root || strings.HasPrefix(path, root+"/") }

// routeOf is where clients find a format.
func routeOf(f chat.Format) string {
	for _, e := range endpoints {
		if e.format == f {
			return "/v1" + e.path
		}
	}
	return ""
}
