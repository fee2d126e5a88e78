package aggregate_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"secateur/internal/access"
	"secateur/internal/access/admission"
)

// Lists and instructions name the servers that have not started yet, to those who may see them.
func TestServersThatHaveNotStartedAreNamed(t *testing.T) {
	rules, err := access.NewRules([]access.Rule{{Server: access.Globs{"hidden"}, Action: access.ActionDeny}}, false)
	if err != nil {
		t.Fatal(err)
	}
	control, err := admission.New(admission.Options{Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	here := newPuppet(t, nature{ID: "here", Lists: map[string]json.RawMessage{
		"tools/list": json.RawMessage(`{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`),
	}})
	mute, hidden := newPuppet(t, nature{ID: "mute", Mute: true}), newPuppet(t, nature{ID: "hidden", Mute: true})
	c := newPipeClient(t, doorOptions{puppets: []*puppet{here, mute, hidden}, listWait: time.Millisecond, control: control})
	said := c.asks(t, "initialize", helloT)
	if !strings.Contains(said, "mute. Their tools are missing from lists until then.") || strings.Contains(said, "hidden") {
		t.Errorf("initialize: %s", said)
	}
	for n := 2; ; n++ {
		c.send(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, n))
		var answer struct {
			Result struct {
				Tools []struct {
					Name string `json:"name"`
				} `json:"tools"`
				Meta map[string][]string `json:"_meta"`
			} `json:"result"`
		}
		changed := false
		for listed := ""; !strings.Contains(listed, fmt.Sprintf(`"id":%d`, n)); {
			listed = c.hears(t)
			changed = changed || strings.Contains(listed, "tools/list_changed")
			if err := json.Unmarshal([]byte(listed), &answer); err != nil {
				t.Fatal(err)
			}
		}
		missing := answer.Result.Meta["secateur/missing"]
		if len(answer.Result.Tools) == 1 {
			if !slices.Equal(missing, []string{"mute"}) {
				t.Errorf("with the tools of the other server %q are missing", missing)
			}
			return
		}
		if !slices.Equal(missing, []string{"here", "mute"}) {
			t.Errorf("without tools %q are missing", missing)
		}
		for !changed { // until the server has listed
			changed = strings.Contains(c.hears(t), "tools/list_changed")
		}
	}
}

// A list of servers that have all started says nothing about missing ones.
func TestWholeListsNameNoServer(t *testing.T) {
	c := newPipeClient(t, doorOptions{puppets: []*puppet{newPuppet(t, nature{ID: "a"})}})
	c.asks(t, "initialize", helloT)
	if listed := c.asks(t, "tools/list", `{}`); strings.Contains(listed, "_meta") {
		t.Errorf("tools/list: %s", listed)
	}
}
