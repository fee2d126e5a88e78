package admission_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"secateur/internal/access"
	"secateur/internal/access/admission"
	"secateur/internal/mcp/catalog"
)

// listing is a server whose list gives this result once it is read.
type listing struct {
	err     error
	changes func()
	waited  int
}

func (l *listing) Settle(context.Context, string, catalog.List) error {
	l.waited++
	if l.changes != nil {
		l.changes()
	}
	return l.err
}

func (l *listing) Lists(_ context.Context, _ string, _ catalog.List, name string) bool {
	return name != "unlisted"
}

// With strict pins, an unlisted tool is refused like an unknown one: there is nothing to approve.
func TestAnUnlistedToolIsUnknownWithStrictPins(t *testing.T) {
	c := control(t, false, admission.Options{Held: func(string, catalog.List, string) admission.Pin { return admission.PinUnlisted }})
	by := &listing{}
	_, no := c.AskListed(t.Context(), access.Anonymous(), "tools/call", by, access.Target{Door: access.DoorMCP, Server: "s", Kind: access.KindTool, Name: "none"})
	if no == nil || !no.Hides() || by.waited != 1 {
		t.Fatalf("%+v after %d waits", no, by.waited)
	}
	if e, _, _ := no.Error(); e.Code != -32602 || e.Message != "unknown tool: none" {
		t.Errorf("%d %s", e.Code, e.Message)
	}
}

// A completion names a template. A held template is refused.
func TestCompletionOfAHeldTemplateIsRefused(t *testing.T) {
	c := control(t, false, admission.Options{Held: func(_ string, l catalog.List, name string) admission.Pin {
		if l == catalog.Templates && name == "x:{v}" {
			return admission.PinChanged
		}
		return ""
	}})
	_, no := c.AskListed(t.Context(), access.Anonymous(), "completion/complete", nil, access.Target{Door: access.DoorMCP, Server: "s", Kind: access.KindResource, Name: "x:{v}"})
	if no == nil || no.Pin != admission.PinChanged {
		t.Errorf("%+v", no)
	}
}

// Strict pins compare with the server's list at the time of the call. A tool whose definition
// changed, or cannot be compared, is held back.
func TestAToolThatCannotBeComparedIsHeldBack(t *testing.T) {
	changed := map[string]admission.Pin{"was": admission.PinChanged, "none": admission.PinUnlisted, "soon": admission.PinUnlisted}
	c := control(t, false, admission.Options{Held: func(_ string, _ catalog.List, name string) admission.Pin { return changed[name] }}, access.Rule{Tool: access.Globs{"secret"}, Action: access.ActionDeny})
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
		"becomes another":    {tool("turns"), &listing{changes: func() { changed["turns"] = admission.PinChanged }}, admission.PinChanged, 1},
		"is another":         {tool("was"), &listing{}, admission.PinChanged, 0},
		"cannot be told":     {tool("same"), &listing{err: errors.New("no list")}, admission.PinUnchecked, 1},
		"denied by a rule":   {tool("secret"), &listing{err: errors.New("no list")}, "", 0},
		"becomes new":        {tool("soon new"), &listing{changes: func() { changed["soon new"] = admission.PinChanged }}, admission.PinChanged, 1},
		"is there after all": {tool("soon"), &listing{changes: func() { delete(changed, "soon") }}, "", 1},
		"another prompt":     {access.Target{Door: access.DoorMCP, Server: "s", Kind: access.KindPrompt, Name: "was"}, &listing{}, admission.PinChanged, 0},
		"another resource":   {access.Target{Door: access.DoorMCP, Server: "s", Kind: access.KindResource, Name: "was"}, &listing{}, admission.PinChanged, 0},
		"an unlisted one":    {access.Target{Door: access.DoorMCP, Server: "s", Kind: access.KindResource, Name: "same"}, &listing{err: errors.New("no list")}, "", 1},
		"about no thing":     {access.Target{Door: access.DoorMCP, Server: "s"}, &listing{err: errors.New("no list")}, "", 0},
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
