package aggregate

import (
	"bytes"
	"strings"
	"sync"

	"secateur/internal/access"
	"secateur/internal/catalog"
	"secateur/internal/era"
	"secateur/internal/rawjson"
	"secateur/internal/rpc"
)

// taskOwners remember who made which task. A server that all share answers whoever knows a task's id; here only its maker
// may ask for it, read or cancel it. A task that nobody made through us, or too long ago, is left to the server.
type taskOwners struct {
	mu    sync.Mutex // guards the fields below
	owner map[taskKey]string
	order []taskKey // oldest first; a ring once it is full
	next  int
}

// taskKey names a task in its server's own words.
type taskKey struct{ server, task string }

// maxTasks is how many tasks are remembered. The oldest is forgotten first.
const maxTasks = 16384

func (t *taskOwners) note(k taskKey, owner string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, known := t.owner[k]; known {
		return // whoever made it; a server that gives out an id twice gives the second maker nothing
	}
	if t.owner == nil {
		t.owner = map[taskKey]string{}
	}
	if len(t.order) < maxTasks {
		t.order = append(t.order, k)
	} else {
		delete(t.owner, t.order[t.next])
		t.order[t.next] = k
		t.next = (t.next + 1) % maxTasks
	}
	t.owner[k] = owner
}

// allows tells whether a caller may have to do with a task.
func (t *taskOwners) allows(k taskKey, caller string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	owner, known := t.owner[k]
	return !known || owner == caller
}

// taskOwner is who makes the tasks of a call: its principal, or where nobody has to say who they are, the session.
func (s *clientConn) taskOwner(c *client) string {
	p := c.principal
	if c.era == era.Legacy {
		p = s.Principal()
	}
	if s.link != nil && (p == nil || p.Issuer == access.IssuerNone) {
		return "session " + s.tag
	}
	return "principal " + p.Key()
}

// ownTask is a task in the words of its server.
func (s *clientConn) ownTask(server, id string) taskKey {
	if s.only == "" {
		if of, task, ok := catalog.UnwrapTask(id); ok && of == server {
			id = task
		}
	}
	return taskKey{server, id}
}

// mayAskFor tells whether a request that names a task comes from its maker.
func (s *clientConn) mayAskFor(c *client, method, server string, params []byte) (id string, ok bool) {
	if !strings.HasPrefix(method, "tasks/") {
		return "", true
	}
	id, named := rawjson.Text(rawjson.Get(params, "taskId"))
	return id, !named || s.tasks.allows(taskKey{server, id}, s.taskOwner(c))
}

// noteTasks remembers the task that an answer tells of, or leaves those of others out of a list.
func (s *clientConn) noteTasks(c *client, method, server string, r reply) reply {
	if r.failed != nil || !bytes.Contains(r.Body, []byte(`"taskId"`)) {
		return r
	}
	msg, err := rpc.ParseServer(r.Body, 0)
	if err != nil || msg.Result == nil {
		return r
	}
	switch {
	case method == "tasks/list":
		if kept := s.ownTasks(c, server, msg.Result); len(kept) < len(msg.Result) {
			now := msg.WithResult(kept)
			r.Body, r.Release = now.Raw, nil
		}
	case !strings.HasPrefix(method, "tasks/"):
		for _, raw := range [][]byte{rawjson.Get(msg.Result, "taskId"), rawjson.Get(rawjson.Get(msg.Result, "task"), "taskId")} {
			if id, ok := rawjson.Text(raw); ok {
				s.tasks.note(s.ownTask(server, id), s.taskOwner(c))
			}
		}
	}
	return r
}

// ownTasks is a list of tasks without those of others.
func (s *clientConn) ownTasks(c *client, server string, result []byte) []byte {
	list := rawjson.Get(result, "tasks")
	if len(list) == 0 || list[0] != '[' {
		return result
	}
	caller := s.taskOwner(c)
	kept, foreign := []byte{'['}, false
	cursor := rawjson.NewCursor(list)
	for cursor.Enter(); !cursor.Done(); {
		item := cursor.Raw()
		if id, ok := rawjson.Text(rawjson.Get(item, "taskId")); ok && !s.tasks.allows(s.ownTask(server, id), caller) {
			foreign = true
			continue
		}
		if len(kept) > 1 {
			kept = append(kept, ',')
		}
		kept = append(kept, item...)
	}
	if !foreign {
		return result
	}
	return rawjson.Set(result, "tasks", append(kept, ']'))
}
