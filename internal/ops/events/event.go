package events

import (
	"strings"
	"time"
)

// Type is the type of an event.
type Type string

// The types of events.
const (
	TypeRequest Type = "request"
	TypeCut     Type = "cut"
	TypeServer  Type = "server"
	TypeRefusal Type = "refusal"
	TypeReload  Type = "reload"
	TypeLog     Type = "log"
)

// TypeGap is not an event: it marks events that another replica could not pass on.
const TypeGap Type = "gap"

// Types returns all types of events, in the order of the documentation.
func Types() []Type {
	return []Type{TypeRequest, TypeCut, TypeServer, TypeRefusal, TypeReload, TypeLog}
}

// Event is one event.
type Event struct {
	ID   string // for Subscribe
	At   time.Time
	Type Type
	Data Data // one of the types of this package, written as JSON
}

// Data is the content of an event: Request, Cut, Server, Refusal, Reload, Log or Gap. Its field
// Replica names the replica where it happened; "": this one.
type Data interface{ Type() Type }

// Request is an answered request, at any door.
type Request struct {
	RequestID string  `json:"request_id"`
	Door      string  `json:"door"`
	Server    string  `json:"server"`
	Method    string  `json:"method"`
	Tool      string  `json:"tool"`
	Outcome   string  `json:"outcome"`
	MS        float64 `json:"ms"`
	BytesIn   int64   `json:"bytes_in"`
	BytesOut  int64   `json:"bytes_out"`
	Subject   string  `json:"subject"`

	At    time.Time `json:"at,omitzero"`    // time of publication
	Model string    `json:"model,omitzero"` // provider/model of a conversation

	Replica string `json:"replica,omitzero"`
}

// Cut is a text that was cut out of an observation or a conversation. ID is the id of its original.
type Cut struct {
	ID            string    `json:"id"`
	At            time.Time `json:"at"`      // zero: when it is published
	Feature       string    `json:"feature"` // gateway, mcp, masked, pruned, hook
	Server        string    `json:"server"`
	Tool          string    `json:"tool"`
	Model         string    `json:"model"`
	OriginalChars int       `json:"original_chars"`
	KeptChars     int       `json:"kept_chars"`
	TokensSaved   int       `json:"tokens_saved"`
	Recovered     bool      `json:"recovered"`

	RecoveredAt time.Time `json:"recovered_at,omitzero"`
	RequestID   string    `json:"request_id,omitzero"` // "": unknown
	How         *Removal  `json:"-"`                   // the removed parts; nil: unknown

	Replica string `json:"replica,omitzero"`
}

// Removal says which parts of a text were removed, and why. It is never serialized: Goal and the
// result of Sent are contents, only for readers of the original.
type Removal struct {
	Reason string
	Goal   string // goal of the pruning; "": none or unknown
	Parts  []Part
	// Sent returns what was sent instead of the original; nil: no longer known.
	Sent func(original string) string
}

// Limits on the contents that a cut keeps.
const (
	maxGoal = 600
	maxSent = 16 << 10
)

// ClipGoal shortens a goal.
func ClipGoal(goal string) string {
	goal = strings.TrimSpace(goal)
	if len(goal) <= maxGoal {
		return strings.Clone(goal)
	}
	return strings.ToValidUTF8(goal[:maxGoal], "") + "…"
}

// SentAs remembers what was sent, or returns nil if it is too long.
func SentAs(text string) func(original string) string {
	if len(text) > maxSent {
		return nil
	}
	text = strings.Clone(text) // it may be part of a large string
	return func(string) string { return text }
}

// Part is a removed part of a text: lines (from 1, inclusive) or characters (from 0, end
// exclusive). Unused fields are 0.
type Part struct {
	StartLine int    `json:"start_line"`
	EndLine   int    `json:"end_line"`
	StartChar int    `json:"start_char"`
	EndChar   int    `json:"end_char"`
	Reason    string `json:"reason"`
}

// Server is a change of a server's state.
type Server struct {
	ID        string `json:"id"`
	State     string `json:"state"`
	Restarts  int    `json:"restarts"`
	LastError string `json:"last_error"` // "": none, or resolved
	Replica   string `json:"replica,omitzero"`
}

// Refusal is a refused request. Reasons are those of the metric secateur_refusals_total.
type Refusal struct {
	RequestID string `json:"request_id"`
	Door      string `json:"door"`
	Reason    string `json:"reason"`
	Rule      string `json:"rule"` // ACL rule or name of the limit; "": neither
	Subject   string `json:"subject"`

	// Count is the number of such refusals since the last event for this door and reason; 0: one.
	Count int `json:"count,omitzero"`

	At      time.Time `json:"at,omitzero"` // zero: time of publication
	Replica string    `json:"replica,omitzero"`
}

// Reload is a reload of the configuration, as the control plane reports it.
type Reload struct {
	Outcome       string   `json:"outcome"` // ok, invalid, failed
	Changed       bool     `json:"changed"`
	Added         []string `json:"added"`
	Removed       []string `json:"removed"`
	Restarted     []string `json:"restarted"`
	Unchanged     []string `json:"unchanged"`
	Keys          []string `json:"keys"`
	RestartNeeded []string `json:"restart_needed"`
	Error         string   `json:"error,omitempty"`
	Replica       string   `json:"replica,omitzero"`
}

// Log is a line of the program's log, or of a server's standard error.
type Log struct {
	At        time.Time `json:"at"` // zero: time of publication
	Server    string    `json:"server"`
	Level     string    `json:"level"`
	Text      string    `json:"text"`
	RequestID string    `json:"request_id,omitempty"`
	Replica   string    `json:"replica,omitzero"`
}

// Gap is the number of events that a replica could not pass on.
type Gap struct {
	Lost    uint64 `json:"lost"` // 0: unknown
	Replica string `json:"replica,omitzero"`
}

// Type returns TypeRequest.
func (Request) Type() Type { return TypeRequest }

// Type returns TypeCut.
func (Cut) Type() Type { return TypeCut }

// Type returns TypeServer.
func (Server) Type() Type { return TypeServer }

// Type returns TypeRefusal.
func (Refusal) Type() Type { return TypeRefusal }

// Type returns TypeReload.
func (Reload) Type() Type { return TypeReload }

// Type returns TypeLog.
func (Log) Type() Type { return TypeLog }

// Type returns TypeGap.
func (Gap) Type() Type { return TypeGap }
