package aggregate

import (
	"strconv"
	"strings"
	"testing"

	"secateur/internal/access"
	"secateur/internal/downstream"
	"secateur/internal/era"
)

// A server that all share answers whoever knows a task's id. Here another session, where nobody has to say who they are,
// and another principal, where they do, find nothing there.
func TestATaskIsItsMakersAlone(t *testing.T) {
	shared := &Server{}
	session := func(tag string, p *access.Principal) (*clientConn, *client) {
		link := struct{ downstream.Link }{}
		return &clientConn{Server: shared, link: link, tag: tag, opener: p}, &client{era: era.Legacy}
	}
	alice, bob := &access.Principal{Issuer: "token", Subject: "alice"}, &access.Principal{Issuer: "token", Subject: "bob"}
	for _, c := range []struct {
		rule         string
		maker, other *access.Principal
		sameSession  bool
		want         bool
	}{
		{"the session that made it", access.Anonymous(), access.Anonymous(), true, true},
		{"another session of nobody in particular", access.Anonymous(), access.Anonymous(), false, false},
		{"another session of the same principal", alice, alice, false, true},
		{"another principal", alice, bob, false, false},
	} {
		task := "t-" + strings.ReplaceAll(c.rule, " ", "-")
		for _, made := range []string{`{"task":{"taskId":"files::` + task + `","status":"working"}}`, `{"resultType":"task","taskId":"files::` + task + `"}`} {
			maker, m := session("one", c.maker)
			maker.noteTasks(m, "tools/call", "files", reply{Answer: downstream.Answer{Body: []byte(`{"jsonrpc":"2.0","id":1,"result":` + made + `}`)}})
		}
		other, o := session("two", c.other)
		if c.sameSession {
			other.tag = "one"
		}
		for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel", "tasks/update"} {
			if _, ok := other.mayAskFor(o, method, "files", []byte(`{"taskId":"`+task+`"}`)); ok != c.want {
				t.Errorf("%s by %s: %v, want %v", method, c.rule, ok, c.want)
			}
		}
		list := `{"jsonrpc":"2.0","id":1,"result":{"tasks":[{"taskId":"files::` + task + `"},{"taskId":"files::of-the-server"}]}}`
		got := string(other.noteTasks(o, "tasks/list", "files", reply{Answer: downstream.Answer{Body: []byte(list)}}).Body)
		if strings.Contains(got, task) != c.want || !strings.Contains(got, "of-the-server") {
			t.Errorf("the list as %s sees it: %s", c.rule, got)
		}
	}
}

func TestTasksAreForgottenAtLast(t *testing.T) {
	var owners taskOwners
	for i := range maxTasks + 10 {
		owners.note(taskKey{"files", strconv.Itoa(i)}, "me")
	}
	if len(owners.owner) > maxTasks || len(owners.order) > maxTasks {
		t.Errorf("%d tasks are remembered, want at most %d", len(owners.owner), maxTasks)
	}
}
