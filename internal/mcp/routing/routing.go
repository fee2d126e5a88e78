package routing

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"secateur/internal/access"
)

// To is the receiver of a message.
type To string

// The possible receivers.
const (
	Default To = ""      // as without a row
	Cause   To = "cause" // the session whose call is running
	// sessions that set a log level, subscribed or listen; for requests, those that use the server
	Asked      To = "asked"
	All        To = "all"        // every session that may use the server
	Principals To = "principals" // like All, but only sessions of the named principals
	Drop       To = "drop"       // none; a request is refused
)

// Route is one row of the table.
type Route struct {
	Server     access.Globs `toml:"server"`     // server ids; none: any
	Method     access.Globs `toml:"method"`     // none: any
	To         To           `toml:"to"`         // the receivers
	Principals access.Globs `toml:"principals"` // with to = "principals": their subjects
}

// Settings is the table. The zero value has no rows.
type Settings struct {
	Routes []Route `toml:"routes"` // the first match decides
}

// Decision is the receiver of a message.
type Decision struct {
	To         To
	Principals access.Globs // with Principals: their subjects
}

// Decide finds the row for a server's message.
func (s Settings) Decide(server, method string) Decision {
	for _, r := range s.Routes {
		if matches(r.Server, server) && matches(r.Method, method) {
			return r.decision(method)
		}
	}
	return Decision{}
}

func matches(g access.Globs, value string) bool { return len(g) == 0 || g.Match(value) }

// decision returns the row's decision for a method. Progress belongs to its call, and list changes
// are merged from all servers, so a row can only drop these.
func (r Route) decision(method string) Decision {
	if r.To != Drop && (method == methodProgress || isListChanged(method)) {
		return Decision{}
	}
	return Decision{r.To, r.Principals}
}

const methodProgress = "notifications/progress"

func isListChanged(method string) bool {
	return strings.HasPrefix(method, "notifications/") && strings.HasSuffix(method, "/list_changed")
}

// IsOnCall reports whether messages during a call go only to the session that made it.
func (d Decision) IsOnCall() bool { return d.To == Default || d.To == Cause }

// Names reports whether the decision includes a session of this subject. It checks only the
// subject.
func (d Decision) Names(subject string) bool {
	return d.To != Principals || d.Principals.Match(subject)
}

// Validate reports every mistake as "key: text".
func (r Route) Validate() error {
	var errs []error
	all := []To{Cause, Asked, All, Principals, Drop}
	if !slices.Contains(all, r.To) {
		errs = append(errs, fmt.Errorf("to: %q is none of cause, asked, all, principals, drop", string(r.To)))
	}
	switch {
	case r.To == Principals && len(r.Principals) == 0:
		errs = append(errs, errors.New("principals: missing; with to = \"principals\" they are the subjects that are meant"))
	case r.To != Principals && len(r.Principals) > 0:
		errs = append(errs, errors.New("principals: are for to = \"principals\""))
	}
	if r.To != Drop && len(r.Method) > 0 && !slices.ContainsFunc(r.Method, func(m string) bool { return !isListChanged(m) && m != methodProgress }) {
		errs = append(errs, errors.New("to: progress belongs to its call, and list_changed tells of all servers' lists; such a row can only be drop"))
	}
	return errors.Join(errs...)
}
