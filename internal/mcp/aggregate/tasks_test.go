package aggregate

import (
	"sync"
	"testing"

	"secateur/internal/access"
	"secateur/internal/access/admission"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/tasks"
)

// A task is not followed once its server is hidden from its maker: the server is not asked.
func TestTasksOfAHiddenServerAreNotFollowed(t *testing.T) {
	rules, err := access.NewRules([]access.Rule{{Server: access.Globs{"hidden"}, Action: access.ActionDeny}}, false)
	if err != nil {
		t.Fatal(err)
	}
	control, err := admission.New(admission.Options{Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	owners := &tasks.Owners{}
	s := &clientConn{Server: &Server{opt: Options{Tasks: owners}}}
	c := &client{era: era.Modern, principal: access.TokenHolder()}
	owners.Note(t.Context(), tasks.Key{Server: "hidden", Task: "t-1"}, s.taskCaller(c))
	a := request{now: &live{Options: Options{Admission: control}}, principal: c.principal}
	var work sync.WaitGroup
	if got := s.followTasks(t.Context(), c, a, nil, nil, []string{"hidden::t-1"}, &work); len(got) > 0 { // without a pool: to ask panics
		t.Errorf("followed: %q", got)
	}
}
