package admin

import (
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ServerState is the state of one server in /readyz.
type ServerState struct {
	ID       string `json:"id"`
	State    string `json:"state"` // starting, ready, degraded, restarting, down, disabled, stopped
	Restarts int    `json:"restarts"`
	Error    string `json:"error,omitempty"` // why it is down or degraded

	Tools     int      `json:"tools"` // numbers of listed items
	Resources int      `json:"resources"`
	Templates int      `json:"resource_templates"`
	Prompts   int      `json:"prompts"`
	Problems  []string `json:"problems,omitempty"` // listed items that cannot be used
}

// StoreState is the state of the store of originals in /readyz.
type StoreState struct {
	// ok; full: no cuts until something expires; unavailable: no cuts until the engine answers
	State     string `json:"state"`
	Hint      string `json:"hint,omitempty"` // how a full one gets room
	Kind      string `json:"kind"`           // memory, file, redis
	Originals int    `json:"originals"`
	Bytes     int64  `json:"bytes"`
	MaxBytes  int64  `json:"max_bytes"`
	Refused   int64  `json:"refused"` // originals refused since the start, whose texts passed whole
	Dropped   int64  `json:"dropped"` // originals evicted to make room
}

// Health provides the data for the health endpoints.
type Health struct {
	Draining func() bool          // the program is about to stop
	Servers  func() []ServerState // all configured servers
	Store    func() StoreState    // nil: not reported
}

// Alive answers GET /healthz.
func (h Health) Alive(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, struct {
		Status string `json:"status"`
	}{"ok"})
}

// Ready answers GET /readyz: 200 once every server has started or failed, 503 before that and while
// the program drains. One failed server does not affect the others. withDetails adds details for
// callers that may see them.
func (h Health) Ready(w http.ResponseWriter, withDetails bool) {
	servers := h.Servers()
	answer := struct {
		Status  string        `json:"status"`
		Servers []ServerState `json:"servers,omitzero"`
		Store   *StoreState   `json:"store,omitzero"`
	}{Status: "ready"}
	status := http.StatusOK
	for _, s := range servers {
		if s.State == "starting" && s.Error == "" { // a late server does not block readiness
			answer.Status, status = "starting", http.StatusServiceUnavailable
		}
	}
	if h.Draining() {
		answer.Status, status = "stopping", http.StatusServiceUnavailable
	}
	if withDetails {
		answer.Servers = servers
		if h.Store != nil {
			answer.Store = new(h.Store())
		}
	}
	writeJSON(w, status, answer)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.MarshalWrite(w, v, jsontext.WithIndent("  "))
}
