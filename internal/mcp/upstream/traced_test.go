package upstream

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/mcp/wire"
	"secateur/internal/ops/telemetry"
)

// A call's params._meta tells the server its trace, and Changed reports every state of the server.
func TestCallsTellTheirTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var states []State
		u, err := New(Options{
			Settings: Settings{ID: "demo", Builtin: "demo"}, Local: handlerFunc(builtin), ResponseTimeout: time.Minute,
			Changed: func(s Status) {
				if s.ID != "demo" {
					t.Errorf("a state of %q", s.ID)
				}
				states = append(states, s.State)
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- u.Run(ctx) }()
		const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
		var off *telemetry.Tracing
		traced, _ := off.StartHTTP(t.Context(), &http.Request{Header: http.Header{"Traceparent": {parent}}}, "/mcp")
		for _, c := range []struct {
			rule   string
			ctx    context.Context
			params string
			want   string
		}{
			{"no params", traced, ``, `{"_meta":{"traceparent":"` + parent + `"}}`},
			{"a progress token", traced, `,"params":{"_meta":{"progressToken":"a"},"name":"x"}`, `"traceparent":"` + parent + `"`},
			{"no trace", t.Context(), `,"params":{"name":"x"}`, `{"name":"x"}`},
		} {
			req, bad := wire.ParseRequest([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call"`+c.params+`}`), wire.MaxRequestDepth)
			if bad != nil {
				t.Fatal(bad)
			}
			reply, err := u.Call(c.ctx, &req)
			if err != nil {
				t.Fatalf("%s: %v", c.rule, err)
			}
			if got := string(reply.Result); !strings.Contains(got, c.want) || !reply.ID.Same(req.ID) {
				t.Errorf("%s: the server got %s, want %s", c.rule, got, c.want)
			}
		}
		stop()
		<-ended
		if want := []State{Ready, Stopped}; !slices.Equal(states, want) {
			t.Errorf("states %v, want %v", states, want)
		}
	})
}
