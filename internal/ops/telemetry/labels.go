package telemetry

import (
	"maps"
	"sync"
	"sync/atomic"
)

// Other is the label for whatever is not in a closed set.
const Other = "other"

// How many tools have a label of their own, of one server and of all: whoever writes the servers' lists is not trusted either.
const (
	maxToolsOfServer = 256
	maxTools         = 4096
)

// ToolLabels tells which names of tools may be labels: those that are listed now, or were when they were called. It may be used by
// many goroutines. The nil *ToolLabels knows none.
type ToolLabels struct {
	isListed atomic.Pointer[func(server, tool string) bool] // nil: nobody has said yet

	known  atomic.Pointer[map[toolKey]struct{}] // replaced, never changed
	mu     sync.Mutex                           // held while known is replaced; guards the field below
	counts map[string]int                       // of the servers in known
}

type toolKey struct{ server, tool string }

// NewToolLabels knows no names yet.
func NewToolLabels() *ToolLabels {
	l := &ToolLabels{counts: map[string]int{}}
	l.known.Store(&map[toolKey]struct{}{})
	return l
}

// Listed says whom to ask whether a server lists a tool.
func (l *ToolLabels) Listed(ask func(server, tool string) bool) { l.isListed.Store(&ask) }

// Label is the name of a server's tool as a label: "" where there is none, Other where nobody lists it.
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

// learn takes a name in, if it is listed and there is room.
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

// MethodLabel is a method of the protocol as a label.
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
