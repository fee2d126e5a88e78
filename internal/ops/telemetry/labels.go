package telemetry

import (
	"maps"
	"sync"
	"sync/atomic"
)

// Other is the label for values outside a closed set.
const Other = "other"

// Limits on tools with their own label, per server and in total: servers are not trusted either.
const (
	maxToolsOfServer = 256
	maxTools         = 4096
)

// ToolLabels decides which tool names may be labels: those listed now, or listed when they were
// called. It is safe for concurrent use. The nil *ToolLabels knows none.
type ToolLabels struct {
	isListed atomic.Pointer[func(server, tool string) bool] // nil: not set yet

	known atomic.Pointer[map[toolKey]struct{}] // copy-on-write
	// held while known is replaced; guards the field below
	mu     sync.Mutex
	counts map[string]int // labels per server in known
}

type toolKey struct{ server, tool string }

// NewToolLabels returns ToolLabels without names.
func NewToolLabels() *ToolLabels {
	l := &ToolLabels{counts: map[string]int{}}
	l.known.Store(&map[toolKey]struct{}{})
	return l
}

// Listed sets the function that reports whether a server lists a tool.
func (l *ToolLabels) Listed(ask func(server, tool string) bool) { l.isListed.Store(&ask) }

// Label returns a tool's name as a label: "" for no tool, Other for an unlisted one.
func (l *ToolLabels) Label(server, tool string) string {
	if tool == "" {
		return ""
	}
	if l == nil {
		return Other
	}
	if _, ok := (*l.known.Load())[toolKey{server, tool}]; ok || l.learn(server, tool) {
		return tool
	}
	return Other
}

// learn adds a name if it is listed and there is room.
func (l *ToolLabels) learn(server, tool string) bool {
	const longest = 128
	ask := l.isListed.Load()
	if len(tool) > longest || ask == nil || !(*ask)(server, tool) {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	known := *l.known.Load()
	key := toolKey{server, tool}
	if _, ok := known[key]; ok {
		return true
	}
	if len(known) >= maxTools || l.counts[server] >= maxToolsOfServer {
		return false
	}
	next := maps.Clone(known)
	next[key] = struct{}{}
	l.known.Store(&next)
	l.counts[server]++
	return true
}

// MethodLabel returns a protocol method as a label.
func MethodLabel(method string) string {
	switch method {
	case "initialize", "server/discover", "ping", "tools/list", "tools/call", "resources/list", "resources/read",
		"resources/templates/list", "resources/subscribe", "resources/unsubscribe", "subscriptions/listen", "prompts/list",
		"prompts/get", "completion/complete", "logging/setLevel", "tasks/get", "tasks/update", "tasks/cancel",
		"tasks/result", "tasks/list", "notifications/initialized", "notifications/cancelled", "notifications/progress",
		"notifications/roots/list_changed":
		return method
	}
	return Other
}
