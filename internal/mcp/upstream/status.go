package upstream

import (
	"context"
	"fmt"
	"strings"
	"time"

	"secateur/internal/mcp/era"
	"secateur/internal/mcp/wire"
	"secateur/internal/secret"
)

// State is a stage in a server's life cycle.
type State string

// The states. A call to a starting or restarting server waits. A degraded server is used like a
// ready one.
const (
	Starting   State = "starting"
	Ready      State = "ready"
	Degraded   State = "degraded" // fails its health checks
	Down       State = "down"     // waiting for the next attempt to start (backoff)
	Restarting State = "restarting"
	Disabled   State = "disabled"
	Held       State = "held" // waits for an approval
	Stopped    State = "stopped"
)

// Status describes the current state of a server.
type Status struct {
	ID         string
	State      State
	Since      time.Time // start of the state
	Up         time.Time // when the current connection was opened; zero: none
	Era        era.Era
	Protocol   string // the protocol version in use; "": not known yet
	ServerName string
	PID        int // process id of the child; 0: none
	Restarts   int
	LastError  string // the last failure or delay; kept after recovery
	Late       bool   // has been starting for longer than startup_timeout
	InFlight   int    // calls at the server
	Skipped    int64  // lines and events on the current connection that were not messages
}

// HeldText says why a held server does not run, and its whole command.
func (s Settings) HeldText() string {
	what := s.URL
	if len(s.Command) > 0 {
		what = strings.Join(s.Command, " ")
	}
	return fmt.Sprintf("it is held until 'secateur approve %s': %s", s.ID, secret.URL(what))
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
