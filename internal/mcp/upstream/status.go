package upstream

import (
	"context"
	"time"

	"secateur/internal/mcp/era"
	"secateur/internal/mcp/wire"
)

// State is where a server is in its life.
type State string

// The states. A call to one that is starting or restarting waits; a degraded one is used like a ready one.
const (
	Starting   State = "starting"
	Ready      State = "ready"
	Degraded   State = "degraded" // misses its health checks
	Down       State = "down"     // the next attempt to start it is waiting its time
	Restarting State = "restarting"
	Disabled   State = "disabled"
	Stopped    State = "stopped"
)

// Status is how a server is doing.
type Status struct {
	ID         string
	State      State
	Since      time.Time // of the state
	Up         time.Time // when the present connection was opened; zero: there is none
	Era        era.Era
	Protocol   string // the protocol version in use; "" as long as it is not known
	ServerName string
	PID        int // of the child; 0: none
	Restarts   int
	LastError  string // why it last failed, or is late; kept after it recovered
	Late       bool   // it is starting for longer than startup_timeout
	InFlight   int    // calls at the server
	Skipped    int64  // lines and events of the present connection that were no messages
}

// disabled is a server that is never started.
type disabled struct {
	u     *Upstream
	state State
	why   string
}

func (d *disabled) err() error { return d.u.errorf(Unavailable, "%s", d.why) }

func (d *disabled) run(ctx context.Context) { <-ctx.Done() }

func (d *disabled) call(context.Context, *wire.Message, CallOptions) (*Reply, error) {
	return nil, d.err()
}
func (d *disabled) notify(context.Context, *wire.Message) error { return d.err() }
func (d *disabled) peer(context.Context) (*Peer, error)         { return nil, d.err() }
func (d *disabled) status() Status {
	if d.state == Disabled {
		return Status{State: Disabled}
	}
	return Status{State: d.state, LastError: d.why}
}
