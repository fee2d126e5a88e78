package doctor

import (
	"context"
	"slices"
	"sync"
)

// Level is how bad a finding is.
type Level string

// The levels.
const (
	OK   Level = "ok"
	Warn Level = "warn"
	Fail Level = "fail"
)

// The checks there are.
const (
	Config      = "config"
	Command     = "command"
	Handshake   = "handshake"
	Port        = "port"
	Provider    = "provider"
	Store       = "store"
	Clock       = "clock"
	Certificate = "certificate"
	Login       = "login"
	Client      = "client"
)

// Finding is what a check has found.
type Finding struct {
	Check   string `json:"check"`
	Subject string `json:"subject"` // what was looked at: a file, a server's id, an address
	Level   Level  `json:"level"`
	Cause   string `json:"cause"`
	Fix     string `json:"fix"` // "": nothing to do
}

// Report is all findings.
type Report struct {
	OK       bool      `json:"ok"` // nothing has failed
	Findings []Finding `json:"findings"`
}

// Check is something to look at.
type Check func(ctx context.Context) []Finding

// Then makes a second check only if the first finds nothing wrong: it would fail for the same reason.
func Then(first, second Check) Check {
	return func(ctx context.Context) []Finding {
		found := first(ctx)
		if slices.ContainsFunc(found, func(f Finding) bool { return f.Level == Fail }) {
			return found
		}
		return append(found, second(ctx)...)
	}
}

// atOnce bounds how many checks run side by side: each may start a server.
const atOnce = 4

// Examine runs the checks and reports what they find, in their order. Done is told how many are over; nil: nobody wants to know.
func Examine(ctx context.Context, checks []Check, done func(int)) Report {
	found := make([][]Finding, len(checks))
	slots := make(chan struct{}, atOnce)
	var running sync.WaitGroup
	var mu sync.Mutex
	over := 0
	for i, check := range checks {
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			found[i] = check(ctx)
			mu.Lock()
			defer mu.Unlock()
			if over++; done != nil {
				done(over)
			}
		})
	}
	running.Wait()
	r := Report{Findings: append([]Finding{}, slices.Concat(found...)...)}
	r.OK = !slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Level == Fail })
	return r
}

// Count is how many findings are of a level.
func (r Report) Count(l Level) (n int) {
	for _, f := range r.Findings {
		if f.Level == l {
			n++
		}
	}
	return n
}
