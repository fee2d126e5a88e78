package aggregate

import (
	"context"
	"sync"

	"secateur/internal/access"
	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/pool"
	"secateur/internal/mcp/tasks"
	"secateur/internal/mcp/upstream"
	"secateur/internal/mcp/wire"
	"secateur/internal/rawjson"
)

// taskNotifications passes on what one server says about its tasks (SEP-2663) to a client that listens.
type taskNotifications struct {
	l      *listenStream
	server string
}

// Serve passes on how a task is doing. Nothing else comes this way.
func (n taskNotifications) Serve(_ context.Context, m *wire.Message) []byte {
	if m.Method == "notifications/tasks" {
		n.l.pass(n.server, m)
	}
	return nil
}

// followTasks has the servers tell of tasks until ctx is done, and returns those that can be followed, in the client's
// words. Only modern servers have such tasks.
func (s *clientConn) followTasks(ctx context.Context, c *client, a request, m *pool.Member, l *listenStream, ids []string, work *sync.WaitGroup) (honoured []string) {
	own := map[string][]string{} // ids by server, in its own words
	names := map[string][]string{}
	for _, id := range ids {
		server, task := s.only, id
		if s.only == "" {
			var ok bool
			if server, task, ok = catalog.UnwrapTask(id); !ok {
				continue
			}
		}
		if !a.now.Admission.Sees(a.principal, access.DoorMCP, server) {
			continue
		}
		if !s.opt.Tasks.Allows(ctx, tasks.Key{Server: server, Task: task}, s.taskCaller(c)) {
			continue
		}
		own[server] = append(own[server], task)
		names[server] = append(names[server], id)
	}
	for server, ofServer := range own {
		conn, err := m.Conn(ctx, server)
		if err != nil {
			continue
		}
		if peer, err := conn.Peer(ctx); err != nil || peer.Era != era.Modern {
			continue
		}
		req := taskListen(c, ofServer)
		honoured = append(honoured, names[server]...)
		work.Go(func() {
			options := upstream.CallOptions{Own: true, Patient: true, Related: taskNotifications{l, server}}
			if _, err := conn.Call(ctx, &req, options); err != nil {
				s.log.DebugContext(ctx, "tasks not followed", "server", server, "err", err)
			}
		})
	}
	return honoured
}

// taskListen is the request to be told of tasks, with the client's own capabilities: it is for them that tasks exist.
func taskListen(c *client, ids []string) wire.Message {
	params := rawjson.Object{'{'}
	params.Begin("notifications")
	params.Texts("taskIds", ids)
	params.End()
	params.Begin("_meta")
	params.Raw(era.MetaCapabilities, c.capabilities)
	params.End()
	return wire.NewRequest(wire.StringID("tasks"), "subscriptions/listen", append(params, '}'))
}
