package tasks

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"secateur/internal/access"
)

var (
	alice = &access.Principal{Issuer: "token", Subject: "alice"}
	bob   = &access.Principal{Issuer: "token", Subject: "bob"}
)

// inMap is a Records in memory.
type inMap map[string]string

func (m inMap) Get(_ context.Context, key string) (value []byte, ok bool, err error) {
	v, ok := m[key]
	return []byte(v), ok, nil
}

func (m inMap) Put(_ context.Context, key string, value []byte) error {
	m[key] = string(value)
	return nil
}

// A shared server answers everyone who knows a task's id. Here another session, without
// authentication, or another principal finds nothing, even after a restart.
func TestATaskIsItsMakersAlone(t *testing.T) {
	one, two := CallerOf(access.Anonymous(), "one"), CallerOf(access.Anonymous(), "two")
	for _, c := range []struct {
		rule          string
		maker, caller Caller
		want          bool
		afterRestart  bool
		withoutRecord bool // after a restart, without stored records
		ofServer      bool // whether it sees tasks without a known owner
	}{
		{rule: "the session that made it", maker: one, caller: one, want: true, afterRestart: true, withoutRecord: true, ofServer: true},
		{rule: "another session of nobody in particular", maker: one, caller: two, want: false, afterRestart: true, withoutRecord: true, ofServer: true},
		{rule: "another session of the same principal", maker: CallerOf(alice, "one"), caller: CallerOf(alice, "two"), want: true, afterRestart: true},
		{rule: "the same principal without a session", maker: CallerOf(alice, "one"), caller: CallerOf(alice, ""), want: true, afterRestart: true},
		{rule: "another principal", maker: CallerOf(alice, ""), caller: CallerOf(bob, "")},
		{rule: "somebody who does not say who they are", maker: CallerOf(alice, ""), caller: one, ofServer: true, withoutRecord: true},
	} {
		t.Run(c.rule, func(t *testing.T) {
			for _, made := range []string{`{"task":{"taskId":"t","status":"working"}}`, `{"resultType":"task","taskId":"t"}`} {
				kept := inMap{}
				for _, run := range []struct {
					name   string
					owners *Owners
					want   bool
				}{
					{"the same run", &Owners{Records: kept}, c.want},
					{"a later run", &Owners{Records: kept}, c.afterRestart},
					{"a later run without records", &Owners{}, c.withoutRecord},
				} {
					if run.name == "the same run" {
						run.owners.Result(t.Context(), "tools/call", []byte(made), c.maker, ofFiles)
					}
					if _, ok := run.owners.MayAsk(t.Context(), "files", []byte(`{"taskId":"t"}`), c.caller); ok != run.want {
						t.Errorf("in %s it may ask for the task: %v, want %v", run.name, ok, run.want)
					}
					list := []byte(`{"tasks":[{"taskId":"t"},{"taskId":"of-the-server"}],"nextCursor":"n"}`)
					got := string(run.owners.Result(t.Context(), "tasks/list", list, c.caller, ofFiles))
					if strings.Contains(got, `"t"`) != run.want || strings.Contains(got, "of-the-server") != c.ofServer || !strings.Contains(got, "nextCursor") {
						t.Errorf("in %s it is listed %s", run.name, got)
					}
				}
				for _, v := range kept {
					if strings.Contains(v, "alice") {
						t.Errorf("a record says who made a task: %s", v)
					}
				}
			}
		})
	}
}

func ofFiles(id string) Key { return Key{"files", id} }

// If a server issues an id twice, the second caller gets nothing of the first.
func TestTheFirstMakerStays(t *testing.T) {
	owners := &Owners{}
	owners.Note(t.Context(), ofFiles("t"), CallerOf(alice, ""))
	owners.Note(t.Context(), ofFiles("t"), CallerOf(bob, ""))
	if owners.Allows(t.Context(), ofFiles("t"), CallerOf(bob, "")) || !owners.Allows(t.Context(), ofFiles("t"), CallerOf(alice, "")) {
		t.Error("the task went over to the second who was given its id")
	}
}

func TestTasksAreForgottenAtLast(t *testing.T) {
	var owners Owners
	for i := range maxTasks + 10 {
		owners.Note(t.Context(), ofFiles(strconv.Itoa(i)), CallerOf(alice, ""))
	}
	if len(owners.owner) > maxTasks || len(owners.order) > maxTasks {
		t.Errorf("%d tasks are remembered, want at most %d", len(owners.owner), maxTasks)
	}
	if owners.Allows(t.Context(), ofFiles("0"), CallerOf(bob, "")) {
		t.Error("a task whose maker is forgotten is open to another principal")
	}
}
