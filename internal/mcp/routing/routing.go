package routing

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"secateur/internal/access"
)

// To is whom something goes to.
type To string

// Whom something may go to.
const (
	Default    To = ""           // as it is without a row
	Cause      To = "cause"      // the session whose call is under way
	Asked      To = "asked"      // those who set a log level, subscribed or listen; of requests, those who use the server
	All        To = "all"        // every session that may have something of the server
	Principals To = "principals" // of these, the sessions of the principals that are named
	Drop       To = "drop"       // nobody; a request is refused
)

// Route is one row of the table.
type Route struct {
	Server     access.Globs `toml:"server"`     // ids; none: any
	Method     access.Globs `toml:"method"`     // none: any
	To         To           `toml:"to"`         // whom it goes to
	Principals access.Globs `toml:"principals"` // with principals: their subjects
}

// Settings are the table. The zero value has no row.
type Settings struct {
	Routes []Route `toml:"routes"` // the first that matches decides
}

// Decision is whom a message goes to.
type Decision struct {
	To         To
	Principals access.Globs // with Principals: their subjects
}

// Decide finds the row for what a server sends.
func (s Settings) Decide(server, method string) Decision {
	for _, r := range s.Routes {
		if matches(r.Server, server) && matches(r.Method, method) {
			return r.decision(method)
		}
	}
	return Decision{}
}

func matches(g access.Globs, value string) bool { return len(g) == 0 || g.Match(value) }

// decision is the row's for a method. Progress belongs to the call that asked for it, and news of lists are made of all servers': of these
// a row can only say that there are none.
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

// IsOnCall reports whether what comes in a call goes to the session that made it, and to no other.
func (d Decision) IsOnCall() bool { return d.To == Default || d.To == Cause }

// Names reports whether a session of this subject is meant, as far as that is about who it is.
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
