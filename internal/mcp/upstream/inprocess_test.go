package upstream

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/mcp/wire"
)

// builtin is a server in this process.
func builtin(ctx context.Context, m *wire.Message) []byte {
	if m.Kind() == wire.Notification {
		return nil
	}
	switch m.Method {
	case "initialize":
		return wire.AppendResult(nil, m.ID, []byte(`{"protocolVersion":"2025-11-25","serverInfo":{"name":"demo"}}`))
	case "panic":
		panic("oh")
	case "nil":
		return nil
	case "junk":
		return []byte(`junk`)
	case "other":
		return wire.AppendResult(nil, wire.StringID("other"), []byte(`1`))
	case "hang":
		<-ctx.Done()
		return nil
	}
	return wire.AppendResult(nil, m.ID, m.Params)
}

func TestLocal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u, err := New(Options{Settings: Settings{ID: "demo", Builtin: "demo"}, Local: handlerFunc(builtin), ResponseTimeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		stop := run(t, u)
		defer stop()
		call := func(method string) (*Reply, error) {
			return u.Call(t.Context(), message(t, `{"jsonrpc":"2.0","id":"me","method":"`+method+`","params":[1]}`))
		}
		reply, err := call("echo")
		if err != nil || string(reply.Raw) != `{"jsonrpc":"2.0","id":"me","result":[1]}` {
			t.Errorf("echo: %+v, %v", reply, err)
		}
		if u.ServerName() != "demo" {
			t.Errorf("ServerName() = %q", u.ServerName())
		}
		reply, err = call("panic")
		if err != nil || !strings.Contains(string(reply.Error), "-32603") || strings.Contains(string(reply.Raw), "oh") {
			t.Errorf("panic: %+v, %v", reply, err)
		}
		for _, method := range []string{"nil", "junk", "other"} {
			_, err = call(method)
			wantError(t, err, Invalid, 0, "no answer")
		}
		began := time.Now()
		_, err = call("hang")
		wantError(t, err, Timeout, 0, "1m0s")
		if d := time.Since(began); d != time.Minute {
			t.Errorf("timed out after %s", d)
		}
		if err := u.Notify(t.Context(), message(t, `{"jsonrpc":"2.0","method":"notifications/x"}`)); err != nil {
			t.Errorf("Notify: %v", err)
		}
		stop()
		_, err = call("echo")
		wantError(t, err, Unavailable, 0, "stopped")
	})
}
