package doctor

import (
	"context"
	"slices"
	"sync"
)

// Level is the severity of a finding.
type Level string

// The levels.
const (
	OK   Level = "ok"
	Warn Level = "warn"
	Fail Level = "fail"
)

// The checks.
const (
	Config      = "config"
	Command     = "command"
	Handshake   = "handshake"
	Sandbox     = "sandbox"
	Port        = "port"
	Provider    = "provider"
	Store       = "store"
	Clock       = "clock"
	Certificate = "certificate"
	Login       = "login"
	Client      = "client"
)

// Finding is the result of a check.
type Finding struct {
	Check   string `json:"check"`
	Subject string `json:"subject"` // what was checked: a file, a server's id, an address
	Level   Level  `json:"level"`
	Cause   string `json:"cause"`
	Fix     string `json:"fix"` // "": nothing to do
}

// Report holds all findings.
type Report struct {
	OK       bool      `json:"ok"` // nothing has failed
	Findings []Finding `json:"findings"`
}

// Check examines one thing.
type Check func(ctx context.Context) []Finding

// Then runs a second check only if the first does not fail, since it would fail for the same
// reason.
func Then(first, second Check) Check {
	return func(ctx context.Context) []Finding {
		found := first(ctx)
		if slices.ContainsFunc(found, func(f Finding) bool { return f.Level == Fail }) {
			return found
		}
		return append(found, second(ctx)...)
	}
}

// atOnce limits parallel checks: each may start a server.
const atOnce = 4

// Examine runs the checks and returns their findings in order. done receives the number of finished
// checks; nil: ignored.
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

// Count returns the number of findings of a level.
func (r Report) Count(l Level) (n int) {
	for _, f := range r.Findings {
		if f.Level == l {
			n++
		}
	}
	return n
}
