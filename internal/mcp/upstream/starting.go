package upstream

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// childPatience is how many times startup_timeout a child process may take for its first answer. A
// silent child may be installing itself. Other servers are given up after one startup_timeout.
const childPatience = 10

// attempt is a start in progress.
type attempt struct {
	conn  *connection
	began time.Time
}

// begin records an attempt whose handshake is about to begin, and logs a warning if it takes long.
// The returned function ends the attempt.
func (v *supervisor) begin(ctx context.Context, s *connection) (end func()) {
	a := &attempt{s, time.Now()}
	v.become(v.now.Load().State, func(m *snapshot) { m.attempt = a })
	late := time.AfterFunc(v.u.startupTimeout(), func() {
		v.u.log.WarnContext(ctx, "server is starting, no answer yet", "after_s", int(time.Since(a.began).Seconds()),
			"stderr", s.stderr(), "startup_timeout", v.u.startupTimeout().String(), "given_up_after", v.startLimit().String())
	})
	return func() {
		late.Stop()
		v.become(v.now.Load().State, func(m *snapshot) { m.attempt = nil })
	}
}

// startLimit returns how long an attempt may take.
func (v *supervisor) startLimit() time.Duration {
	return time.Duration(v.patience) * v.u.startupTimeout()
}

// isLate reports whether an attempt takes longer than callers wait.
func (v *supervisor) isLate(a *attempt) bool {
	return a != nil && time.Since(a.began) >= v.u.startupTimeout()
}

// lateness describes the progress of an attempt, for people.
func (v *supervisor) lateness(a *attempt) string {
	said := lastLine(a.conn.stderr())
	if said == "" {
		said = "none"
	}
	return fmt.Sprintf("starting, %d s: no answer yet; its output: %s; startup_timeout = %g says how long calls wait for it, after %s it is started again",
		int(time.Since(a.began).Seconds()), said, v.u.startupTimeout().Seconds(), v.startLimit())
}

// lastLine returns the last line of a server's output, shortened for a message.
func lastLine(output string) string {
	const most = 200
	output = strings.TrimSpace(output)
	line := output[strings.LastIndexByte(output, '\n')+1:]
	for len(line) > most {
		_, size := utf8.DecodeLastRuneInString(line)
		line = line[:len(line)-size]
	}
	return strings.TrimSpace(line)
}
