package admission_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"secateur/internal/access"
	"secateur/internal/admission"
)

// listing is a server whose list, when it is waited for, finds this.
type listing struct {
	err     error
	changes func()
	waited  int
}

func (l *listing) Settle(context.Context, string) error {
	l.waited++
	if l.changes != nil {
		l.changes()
	}
	return l.err
}

// Strict pins decide on what a server lists when a tool is called: one whose definition turns out to be another is held back, and one that cannot be compared is too.
func TestAToolThatCannotBeComparedIsHeldBack(t *testing.T) {
	changed := map[string]bool{"was": true}
	c := control(t, false, admission.Options{Held: func(_, tool string) bool { return changed[tool] }}, access.Rule{Tool: access.Globs{"secret"}, Action: access.ActionDeny})
	nobody := access.Anonymous()
	nobody.Roles = nil
	tool := func(name string) access.Target {
		return access.Target{Door: access.DoorMCP, Server: "s", Kind: access.KindTool, Name: name}
	}
	for name, w := range map[string]struct {
		target access.Target
		by     *listing
		reason admission.Pin
		waits  int
	}{
		"as it was":          {tool("same"), &listing{}, "", 1},
		"becomes another":    {tool("turns"), &listing{changes: func() { changed["turns"] = true }}, admission.PinChanged, 1},
		"is another":         {tool("was"), &listing{}, admission.PinChanged, 0},
		"cannot be told":     {tool("same"), &listing{err: errors.New("no list")}, admission.PinUnchecked, 1},
		"denied by a rule":   {tool("secret"), &listing{err: errors.New("no list")}, "", 0},
		"not about a tool":   {access.Target{Door: access.DoorMCP, Server: "s", Kind: access.KindPrompt, Name: "was"}, &listing{err: errors.New("no list")}, "", 0},
		"nothing to wait on": {tool("same"), nil, "", 0},
	} {
		var by admission.Lister
		if w.by != nil {
			by = w.by
		} else {
			w.by = &listing{}
		}
		_, no := c.AskListed(t.Context(), nobody, "tools/call", by, w.target)
		got := admission.Pin("")
		if no != nil {
			got = no.Pin
		}
		if got != w.reason || w.by.waited != w.waits {
			t.Errorf("%s: %q after %d waits, want %q after %d", name, got, w.by.waited, w.reason, w.waits)
		}
		if w.reason == "" {
			continue
		}
		e, status, _ := no.Error()
		if told := string(e.Append(nil)); status != http.StatusForbidden || e.Code != -32016 || !strings.Contains(told, `"reason":"`+string(w.reason)+`"`) || !strings.Contains(told, `"hint":"`) {
			t.Errorf("%s: %d %s", name, status, told)
		}
	}
}
