package pool

import (
	"testing"

	"secateur/internal/mcp/era"
	"secateur/internal/mcp/upstream"
	"secateur/internal/mcp/wire"
)

// FuzzServe checks that no message from a server causes a panic, and that each request is answered.
func FuzzServe(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"debug","data":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/message","params":[1]}`,
		`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///a/b?c#d"}}`,
		`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":["/"]}}`,
		`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"resourceSubscriptions":["a"]},"_meta":{"io.modelcontextprotocol/subscriptionId":"listen-1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`,
		`{"jsonrpc":"2.0","id":"x","method":"sampling/createMessage","params":{"tools":null}}`,
		`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"mode":{}}}`,
	} {
		f.Add([]byte(seed))
	}
	pool := poolOf(f, Options{}, map[string]*fake{"a": newFake(f, "x")})
	e := &ears{}
	m := pool.Join(legacy(`{"roots":{},"sampling":{},"elicitation":{}}`), e)
	ch := m.acquire(m.servers()[0])
	if ch.err != nil {
		f.Fatal(ch.err)
	}
	c := ch.conn
	if _, _, err := c.fanout.subscribe(m, "file:///a"); err != nil {
		f.Fatal(err)
	}
	c.peer.Store(&upstream.Peer{Era: era.Modern})
	f.Fuzz(func(t *testing.T, doc []byte) {
		msg, err := wire.ParseServer(doc, 0)
		if err != nil || msg.Kind() == wire.Response {
			return
		}
		answer := c.Serve(t.Context(), &msg)
		e.all()
		if msg.Kind() == wire.Notification {
			if answer != nil {
				t.Errorf("a notification was answered: %s", answer)
			}
			return
		}
		said, err := wire.ParseServer(answer, 0)
		if err != nil || said.Kind() != wire.Response || !said.ID.Same(msg.ID) {
			t.Errorf("answer %s to %s: %v", answer, doc, err)
		}
	})
}
