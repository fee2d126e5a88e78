package events

import (
	"strings"
	"time"
)

// Type tells what happened.
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

// TypeGap is no event: it stands where another replica could not tell some of its own.
const TypeGap Type = "gap"

// Types are all types of events, in the order of the documentation.
func Types() []Type {
	return []Type{TypeRequest, TypeCut, TypeServer, TypeRefusal, TypeReload, TypeLog}
}

// Event is something that has happened.
type Event struct {
	ID   string // of this event, for Subscribe
	At   time.Time
	Type Type
	Data Data // one of the types of this package; it is written as JSON
}

// Data is what is told of an event: Request, Cut, Server, Refusal, Reload or Log, or a Gap. Replica is in each the name of the replica where it has
// happened; "": this one.
type Data interface{ Type() Type }

// Request is a request that was answered, at any door.
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

	At    time.Time `json:"at,omitzero"`    // when it was published
	Model string    `json:"model,omitzero"` // provider/model, of a conversation

	Replica string `json:"replica,omitzero"`
}

// Cut is a text that was taken out of an observation or a conversation. ID is that of its original.
type Cut struct {
	ID            string    `json:"id"`
	At            time.Time `json:"at"`      // zero: when it is published
	Feature       string    `json:"feature"` // gateway, mcp, masked, pruned
	Server        string    `json:"server"`
	Tool          string    `json:"tool"`
	Model         string    `json:"model"`
	OriginalChars int       `json:"original_chars"`
	KeptChars     int       `json:"kept_chars"`
	TokensSaved   int       `json:"tokens_saved"`
	Recovered     bool      `json:"recovered"`

	RecoveredAt time.Time `json:"recovered_at,omitzero"`
	RequestID   string    `json:"request_id,omitzero"` // "": not known
	How         *Removal  `json:"-"`                   // which parts went; nil: not known

	Replica string `json:"replica,omitzero"`
}

// Removal is which parts of a text went, and why. It is never written out: Goal and what Sent gives are content, for whoever may read the
// original.
type Removal struct {
	Reason string
	Goal   string // what the text was read for; "": nothing, or not known
	Parts  []Part
	// Sent gives what went out in the place of the original; nil: not known any more.
	Sent func(original string) string
}

// How much of a conversation's content a cut holds on to.
const (
	maxGoal = 600
	maxSent = 16 << 10
)

// ClipGoal bounds a goal.
func ClipGoal(goal string) string {
	goal = strings.TrimSpace(goal)
	if len(goal) <= maxGoal {
		return strings.Clone(goal)
	}
	return strings.ToValidUTF8(goal[:maxGoal], "") + "…"
}

// SentAs remembers what went out; nil where it is too long for that.
func SentAs(text string) func(original string) string {
	if len(text) > maxSent {
		return nil
	}
	text = strings.Clone(text) // it may be a part of something big
	return func(string) string { return text }
}

// Part is a part of a text that went: lines, from 1, both inclusive, or characters, from 0, the end exclusive. What it is not is 0.
type Part struct {
	StartLine int    `json:"start_line"`
	EndLine   int    `json:"end_line"`
	StartChar int    `json:"start_char"`
	EndChar   int    `json:"end_char"`
	Reason    string `json:"reason"`
}

// Server is a server whose state has changed.
type Server struct {
	ID        string `json:"id"`
	State     string `json:"state"`
	Restarts  int    `json:"restarts"`
	LastError string `json:"last_error"` // "": none, or over
	Replica   string `json:"replica,omitzero"`
}

// Refusal is a request that was turned away. Reasons are those of the metric secateur_refusals_total.
type Refusal struct {
	RequestID string `json:"request_id"`
	Door      string `json:"door"`
	Reason    string `json:"reason"`
	Rule      string `json:"rule"` // of the ACL, or the limit's name; "": neither
	Subject   string `json:"subject"`

	// Count is how many of this door and reason there were since the last that was told; 0: this one alone.
	Count int `json:"count,omitzero"`

	At      time.Time `json:"at,omitzero"` // zero: when it is published
	Replica string    `json:"replica,omitzero"`
}

// Reload is a configuration that was read again: what the control plane answers to a reload.
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
	At        time.Time `json:"at"` // zero: when it is published
	Server    string    `json:"server"`
	Level     string    `json:"level"`
	Text      string    `json:"text"`
	RequestID string    `json:"request_id,omitempty"`
	Replica   string    `json:"replica,omitzero"`
}

// Gap says how many events a replica could not tell.
type Gap struct {
	Lost    uint64 `json:"lost"` // 0: nobody knows
	Replica string `json:"replica,omitzero"`
}

// Type is TypeRequest.
func (Request) Type() Type { return TypeRequest }

// Type is TypeCut.
func (Cut) Type() Type { return TypeCut }

// Type is TypeServer.
func (Server) Type() Type { return TypeServer }

// Type is TypeRefusal.
func (Refusal) Type() Type { return TypeRefusal }

// Type is TypeReload.
func (Reload) Type() Type { return TypeReload }

// Type is TypeLog.
func (Log) Type() Type { return TypeLog }

// Type is TypeGap.
func (Gap) Type() Type { return TypeGap }
