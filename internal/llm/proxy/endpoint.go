package proxy

import (
	"strings"

	"secateur/internal/llm/chat"
)

// endpoint is a path for conversations, below a provider's base URL.
type endpoint struct {
	path   string
	format chat.Format
	free   bool // it counts tokens, which costs nothing
	// It counts or compacts a conversation: it gets what was sent, and nothing more is masked.
	replay bool

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

// endpointOf finds the endpoint of a path, also if the path is spelled differently.
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

// routeOf returns the path of a format.
func routeOf(f chat.Format) string {
	for _, e := range endpoints {
		if e.format == f {
			return "/v1" + e.path
		}
	}
	return ""
}
