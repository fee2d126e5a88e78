package proxy

import (
	"net/http"
	"strconv"

	"secateur/internal/access"
)

// Refuse answers a caller refused by access control, in the error format of the route's clients.
func Refuse(w http.ResponseWriter, r *http.Request, v access.Verdict) {
	f := &failure{status: http.StatusForbidden, kind: "permission_error", code: "forbidden", message: v.Reason}
	if v.Kind == access.Overloaded {
		f = overloaded()
		w.Header().Set("Retry-After", "2")
		w.Header().Set("Connection", "close")
	}
	if v.Kind == access.Guessing {
		w.Header().Set("Retry-After", strconv.Itoa(access.GuessWait))
		f.status, f.kind, f.code = http.StatusTooManyRequests, "rate_limit_error", "rate_limit_exceeded"
	}
	if v.Kind == access.Unauthorized {
		w.Header().Set("WWW-Authenticate", v.Header())
		f.status, f.kind, f.code = http.StatusUnauthorized, "authentication_error", "invalid_api_key"
	}
	writeJSON(w, f.status, f.append(nil, formatOf(r)))
}
