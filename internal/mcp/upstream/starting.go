package upstream

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// childPatience is how many times startup_timeout a child process may take to answer its first request: one that lives
// and is silent may well be installing itself. Others are given up after once.
const childPatience = 10

// attempt is a start that is going on.
type attempt struct {
	conn  *connection
	began time.Time
}

// begin notes an attempt whose handshake is about to begin, and has it reported if that lasts. The returned function is
// called when it is over.
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

// startLimit is how long an attempt may take.
func (v *supervisor) startLimit() time.Duration {
	return time.Duration(v.patience) * v.u.startupTimeout()
}

// isLate reports whether an attempt has taken longer than a caller waits for it.
func (v *supervisor) isLate(a *attempt) bool {
	return a != nil && time.Since(a.began) >= v.u.startupTimeout()
}

// lateness says how an attempt is getting on, for a person.
func (v *supervisor) lateness(a *attempt) string {
	said := lastLine(a.conn.stderr())
	if said == "" {
		said = "none"
	}
	return fmt.Sprintf("starting, %d s: no answer yet; its output: %s; startup_timeout = %g says how long calls wait for it, after %s it is started again",
		int(time.Since(a.began).Seconds()), said, v.u.startupTimeout().Seconds(), v.startLimit())
}

// lastLine is the end of what a server wrote, short enough for a message.
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
