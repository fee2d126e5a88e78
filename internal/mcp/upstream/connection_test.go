package upstream

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"secateur/internal/mcp/era"
	"secateur/internal/mcp/wire"
)

// sentAs returns the form in which a message is sent in a session of this era.
func sentAs(tb testing.TB, era era.Era, req *wire.Message) outgoing {
	tb.Helper()
	u := fakeUpstream(tb, Options{ClientVersion: "7"}, nil)
	s := &connection{u: u}
	s.peer.Store(&Peer{Era: era})
	return s.encode(req, &call{number: 42}, 0)
}

func TestRequestsOnTheWire(t *testing.T) {
	const info = `"io.modelcontextprotocol/clientInfo":{"name":"secateur","version":"7"}`
	for _, c := range []struct {
		rule    string
		era     era.Era
		in, out string
		version string
		name    string
	}{
		{"the id is ours", era.Legacy, `{"jsonrpc":"2.0","id":"x","method":"m"}`, `{"jsonrpc":"2.0","id":42,"method":"m"}`, "", ""},
		{
			"the progress token is ours, all else stays", era.Legacy, `{ "id" : 1, "jsonrpc":"2.0","method":"tools/call","params":{"_meta":{"progressToken":"p","x":1.0},"name":"n"},"z":1}`,
			`{ "id" : 42, "jsonrpc":"2.0","method":"tools/call","params":{"_meta":{"progressToken":42,"x":1.0},"name":"n"},"z":1}`, "", "n",
		},
		{"no token is made up", era.Legacy, `{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{}}}`, `{"jsonrpc":"2.0","id":42,"method":"m","params":{"_meta":{}}}`, "", ""},
		{
			"a modern request says who sends it", era.Modern, `{"jsonrpc":"2.0","id":1,"method":"m"}`,
			`{"jsonrpc":"2.0","id":42,"method":"m","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},` + info + `}}}`, "2026-07-28", "",
		},
		{
			"unless its client did", era.Modern, `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"u","_meta":{"io.modelcontextprotocol/protocolVersion":"2027-01-01","io.modelcontextprotocol/clientCapabilities":{"x":1}}}}`,
			`{"jsonrpc":"2.0","id":42,"method":"resources/read","params":{"uri":"u","_meta":{"io.modelcontextprotocol/protocolVersion":"2027-01-01","io.modelcontextprotocol/clientCapabilities":{"x":1},` + info + `}}}`, "2027-01-01", "u",
		},
	} {
		got := sentAs(t, c.era, message(t, c.in))
		if string(got.message) != c.out || got.version != c.version || got.name != c.name {
			t.Errorf("%s: %s, version %q, name %q; want %s, %q, %q", c.rule, got.message, got.version, got.name, c.out, c.version, c.name)
		}
	}
}

func TestCancelledIsNotSentOnUnderAForeignID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		u := fakeUpstream(t, Options{}, func(l *fakeLink) error {
			l.serve = func(l *fakeLink, req request) {
				if !l.shakeHands(req) {
					got = append(got, req.Method)
				}
			}
			return nil
		})
		stop := run(t, u)
		defer stop()
		for _, n := range []string{"cancelled", "roots/list_changed"} {
			if err := u.Notify(t.Context(), message(t, `{"jsonrpc":"2.0","method":"notifications/`+n+`","params":{"requestId":1}}`)); err != nil {
				t.Error(err)
			}
		}
		if strings.Join(got, " ") != "notifications/roots/list_changed" {
			t.Errorf("the server got %q", got)
		}
	})
}

func TestLongStringsOfAnAnswerAreWhereTheyAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.SampledFrom([]string{`1`, `"a long id, longer than ours"`, `123456789012345678901234567890`, `""`}).Draw(t, "id")
		first := rapid.Bool().Draw(t, "id first")
		s := &connection{u: boundedUpstream()}
		c := newCall(wire.IDOf([]byte(id)), wire.ID{}, nil)
		if err := s.calls.add(c); err != nil {
			t.Fatal(err)
		}
		raw := `{"jsonrpc":"2.0","result":{"k":"abcdefgh"},"id":1}`
		if first {
			raw = `{"id":1,"jsonrpc":"2.0","result":{"k":"abcdefgh"}}`
		}
		s.receive(context.Background(), []byte(raw), source{})
		o := <-c.answer
		if o.err != nil || len(o.reply.Long) != 1 {
			t.Fatalf("%+v", o)
		}
		m := &o.reply.Message
		l := m.Long[0]
		if string(m.Raw[l.Start:l.End]) != `"abcdefgh"` ||
			string(m.Result) != `{"k":"abcdefgh"}` || !json.Valid(m.Raw) || !m.ID.Same(c.id) {
			t.Fatalf("%s %+v", m.Raw, l)
		}
	})
}

func TestRelatedMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		u := fakeUpstream(t, Options{}, func(l *fakeLink) error {
			l.serve = func(l *fakeLink, req request) {
				if l.shakeHands(req) || req.Method != "tools/call" {
					return
				}
				l.say(`{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
				l.say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
				l.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":12345,"progress":1}}`)
				go func() {
					<-release
					l.answer(req.ID, `1`)
				}()
			}
			return nil
		})
		stop := run(t, u)
		defer stop()
		calls := make(chan []string)
		for range 2 {
			go func() {
				var got []string
				_, err := u.CallWith(t.Context(), toolCall(t, "1", "x", "1"), CallOptions{Related: handlerFunc(func(_ context.Context, m *wire.Message) []byte {
					got = append(got, m.Method)
					return nil
				})})
				if err != nil {
					t.Error(err)
				}
				calls <- got
			}()
			synctest.Wait()
		}
		close(release)
		n := len(<-calls) + len(<-calls)
		// only the first call was alone when its message came; the other messages concern the
		// server or no call
		if n != 1 {
			t.Errorf("%d messages were given to calls, want 1", n)
		}
	})
}

func TestProgressComesBeforeTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := fakeUpstream(t, Options{}, func(l *fakeLink) error {
			l.serve = func(l *fakeLink, req request) {
				if l.shakeHands(req) {
					return
				}
				for i := range 3 {
					l.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`, req.Params.Meta.ProgressToken, i)
				}
				l.answer(req.ID, `1`)
			}
			return nil
		})
		stop := run(t, u)
		defer stop()
		for range 10 {
			var got []string
			req := message(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":"mine"}}}`)
			_, err := u.CallWith(t.Context(), req, CallOptions{Related: handlerFunc(func(_ context.Context, m *wire.Message) []byte {
				got = append(got, string(m.Params))
				return nil
			})})
			want := `{"progressToken":"mine","progress":0} {"progressToken":"mine","progress":1} {"progressToken":"mine","progress":2}`
			if err != nil || strings.Join(got, " ") != want {
				t.Fatalf("progress %q, %v; want %s", got, err, want)
			}
		}
	})
}

// Whatever a server sends, nothing panics, and a call gets at most one outcome: its own.
func FuzzReceive(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"a":"bcdefghijk"}}`, `{"jsonrpc":"2.0","id":2.0,"error":{"code":1,"message":""}}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1}}`,
		`{"jsonrpc":"2.0","id":1,"result":`, `{"id":2}`, `[]`, `nonsense`, `{"jsonrpc":"2.0","id":9,"method":"x","params":[]}`,
	} {
		f.Add([]byte(seed), []byte(seed))
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		u := boundedUpstream()
		u.log = u.opt.Log
		s := &connection{u: u, inbox: newInbox(handlerFunc(builtin))}
		s.link = &fakeLink{s: s, serve: func(*fakeLink, request) {}}
		var open [2]*call
		for i := range open {
			open[i] = newCall(wire.StringID("caller"), wire.NumberID(7), handlerFunc(builtin))
			if err := s.calls.add(open[i]); err != nil {
				t.Fatal(err)
			}
		}
		s.receive(t.Context(), first, source{})
		s.receive(t.Context(), second, source{call: open[1]})
		s.calls.close(errStopped)
		for _, c := range open {
			o := <-c.answer
			if o.err == nil && (o.reply.ID != c.id || o.reply.Kind() != wire.Response || !json.Valid(o.reply.Raw)) {
				t.Errorf("reply %s", o.reply.Raw)
			}
		}
	})
}

// boundedUpstream returns an Upstream without a server.
func boundedUpstream() *Upstream {
	u := &Upstream{opt: Options{LongString: 5}.withDefaults()}
	u.SetBounds(Bounds{LongString: 5})
	return u
}
