package admin

import (
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ServerState is what /readyz tells of one server.
type ServerState struct {
	ID       string `json:"id"`
	State    string `json:"state"` // starting, ready, degraded, restarting, down, disabled, stopped
	Restarts int    `json:"restarts"`
	Error    string `json:"error,omitempty"` // why it is down or degraded

	Tools     int      `json:"tools"` // how many it lists, and so on
	Resources int      `json:"resources"`
	Templates int      `json:"resource_templates"`
	Prompts   int      `json:"prompts"`
	Problems  []string `json:"problems,omitempty"` // what it lists and cannot be used
}

// StoreState is what /readyz tells of the store of originals.
type StoreState struct {
	State     string `json:"state"` // ok; full: nothing more is cut until something expires; unavailable: nothing is cut until the engine answers
	Kind      string `json:"kind"`  // memory, file, redis
	Originals int    `json:"originals"`
	Bytes     int64  `json:"bytes"`
	MaxBytes  int64  `json:"max_bytes"`
	Refused   int64  `json:"refused"` // originals that were not kept since the start, so that their texts passed whole
	Dropped   int64  `json:"dropped"` // originals that went to make room
}

// Health is what the answers are made of.
type Health struct {
	Draining func() bool          // the program is about to stop
	Servers  func() []ServerState // every configured server
	Store    func() StoreState    // nil: nothing is said of it
}

// Alive answers GET /healthz: whoever can answer is alive.
func (h Health) Alive(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, struct {
		Status string `json:"status"`
	}{"ok"})
}

// Ready answers GET /readyz: 200 once every server has started or shown that it cannot, 503 before that and while
// the program drains. One dead server does not take the others' doors away. What is
// said beside that is for callers who may see it.
func (h Health) Ready(w http.ResponseWriter, withDetails bool) {
	servers := h.Servers()
	answer := struct {
		Status  string        `json:"status"`
		Servers []ServerState `json:"servers,omitzero"`
		Store   *StoreState   `json:"store,omitzero"`
	}{Status: "ready"}
	status := http.StatusOK
	for _, s := range servers {
		if s.State == "starting" && s.Error == "" { // one that is late holds up nobody
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
