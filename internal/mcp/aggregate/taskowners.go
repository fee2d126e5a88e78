package aggregate

import (
	"context"

	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/tasks"
	"secateur/internal/mcp/wire"
)

// taskCaller is who makes the tasks of a call, and asks for them.
func (s *clientConn) taskCaller(c *client) tasks.Caller {
	p := c.principal
	if c.era == era.Legacy {
		p = s.Principal()
	}
	return tasks.CallerOf(p, s.tag)
}

// ownTask is a task in the words of its server.
func (s *clientConn) ownTask(server, id string) tasks.Key {
	if s.only == "" {
		if of, task, ok := catalog.UnwrapTask(id); ok && of == server {
			id = task
		}
	}
	return tasks.Key{Server: server, Task: id}
}

// noteTasks remembers the task that an answer tells of, or leaves those of others out of a list.
func (s *clientConn) noteTasks(ctx context.Context, c *client, method, server string, r reply) reply {
	if r.failed != nil || !tasks.Tells(r.Body) {
		return r
	}
	msg, err := wire.ParseServer(r.Body, 0)
	if err != nil || msg.Result == nil {
		return r
	}
	result := s.opt.Tasks.Result(ctx, method, msg.Result, s.taskCaller(c), func(id string) tasks.Key { return s.ownTask(server, id) })
	if !same(result, msg.Result) {
		now := msg.WithResult(result)
		r.Body, r.Release = now.Raw, nil
	}
	return r
}
