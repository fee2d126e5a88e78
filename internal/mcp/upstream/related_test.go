package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/mcp/wire"
)

// silent is a server that completes the handshake and passes everything else to serve.
func silent(serve func(l *fakeLink, req request)) func(l *fakeLink) error {
	return func(l *fakeLink) error {
		l.serve = func(l *fakeLink, req request) {
			if !l.shakeHands(req) {
				serve(l, req)
			}
		}
		return nil
	}
}

// calling makes a call in a goroutine and returns a channel with its outcome.
func calling(t *testing.T, u *Upstream, id string, opt CallOptions) <-chan outcome {
	t.Helper()
	return callingTool(t, u, toolCall(t, id, "x", id), opt)
}

func callingTool(t *testing.T, u *Upstream, req *wire.Message, opt CallOptions) <-chan outcome {
	t.Helper()
	done := make(chan outcome, 1)
	go func() {
		reply, err := u.CallWith(t.Context(), req, opt)
		done <- outcome{reply, err}
	}()
	synctest.Wait()
	return done
}

// A server's request goes to a call only if it cannot belong to another caller.
func TestRequestsOfAServerWithoutStreams(t *testing.T) {
	wants := handlerFunc(nil)
	for _, c := range []struct {
		rule  string
		calls []CallOptions // if Related is not nil, the test sets it
		want  string
	}{
		{"no call: everybody's", nil, "incoming"},
		{"one call that wants it", []CallOptions{{Related: wants}}, "call 0"},
		{"one call that does not", []CallOptions{{}}, "refused"},
		{"two calls of different callers: nobody knows whose", []CallOptions{{Related: wants}, {Related: wants}}, "refused"},
		{"two calls of different callers, one wants it: nobody knows whose", []CallOptions{{Related: wants}, {}}, "refused"},
		{"two calls of one caller", []CallOptions{{Related: wants, Caller: "a"}, {Related: wants, Caller: "a"}}, "call 1"},
		{"two of one caller and one of another", []CallOptions{{Related: wants, Caller: "a"}, {Related: wants, Caller: "b"}, {Related: wants, Caller: "a"}}, "refused"},
		{"a question of our own is no call", []CallOptions{{Own: true, Related: wants}, {Related: wants}}, "call 1"},
		{"not even the only one", []CallOptions{{Own: true, Related: wants}}, "incoming"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				served := make(chan string, 10)
				who := func(name string) Handler {
					return handlerFunc(func(_ context.Context, m *wire.Message) []byte {
						served <- name
						return wire.AppendResult(nil, m.ID, []byte(`{}`))
					})
				}
				var open []json.RawMessage
				u := fakeUpstream(t, Options{Incoming: who("incoming")}, silent(func(_ *fakeLink, req request) {
					switch {
					case req.Method == "tools/call":
						open = append(open, req.ID)
					case req.Method == "" && req.Error != nil:
						served <- "refused"
					}
				}))
				stop := run(t, u)
				defer stop()
				synctest.Wait()
				link := u.server.(*supervisor).now.Load().conn.link.(*fakeLink)
				var outcomes []<-chan outcome
				for i, opt := range c.calls {
					if opt.Related != nil {
						opt.Related = who(fmt.Sprintf("call %d", i))
					}
					outcomes = append(outcomes, calling(t, u, "1", opt))
				}
				for range 10 { // ten times, to rule out chance
					link.say(`{"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":{}}`)
					if got := <-served; got != c.want {
						t.Fatalf("served by %s, want %s", got, c.want)
					}
				}
				for i, id := range open {
					link.answer(id, `1`)
					if o := <-outcomes[i]; o.err != nil {
						t.Error(o.err)
					}
				}
			})
		})
	}
}

// doubtful is a server on a pipe whose calls are answered when the test says so.
type doubtful struct {
	*Upstream
	link   *fakeLink
	open   []json.RawMessage // open calls, in order
	served chan string       // who served the server's request, or how it was answered
}

func newDoubtful(t *testing.T) *doubtful {
	t.Helper()
	d := &doubtful{served: make(chan string, 10)}
	d.Upstream = fakeUpstream(t, Options{Incoming: d.who("incoming")}, silent(func(_ *fakeLink, req request) {
		switch {
		case req.Method == "tools/call":
			d.open = append(d.open, req.ID)
		case req.Method == "" && req.Error != nil:
			d.served <- "refused"
		}
	}))
	stop := run(t, d.Upstream)
	t.Cleanup(stop)
	synctest.Wait()
	d.link = d.server.(*supervisor).now.Load().conn.link.(*fakeLink)
	return d
}

func (d *doubtful) who(name string) Handler {
	return handlerFunc(func(_ context.Context, m *wire.Message) []byte {
		d.served <- name
		return wire.AppendResult(nil, m.ID, []byte(`{}`))
	})
}

func (d *doubtful) call(t *testing.T, caller string) <-chan outcome {
	t.Helper()
	return calling(t, d.Upstream, "1", CallOptions{Related: d.who(caller), Caller: caller})
}

func (d *doubtful) asks(method string) {
	d.link.say(`{"jsonrpc":"2.0","id":"q","method":%q}`, method)
	synctest.Wait()
}

// wantServed checks who has served the server's request by now; "": not served yet.
func (d *doubtful) wantServed(t *testing.T, when, want string) {
	t.Helper()
	synctest.Wait()
	got := ""
	select {
	case got = <-d.served:
	default:
	}
	if got != want {
		t.Errorf("%s: served by %q, want %q", when, got, want)
	}
}

// A request whose owner is uncertain waits until it is certain. The call it belongs to cannot end
// before.
func TestADoubtfulRequestWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoubtful(t)
		a, b := d.call(t, "a"), d.call(t, "b")
		d.asks("elicitation/create")
		// cannot have caused it
		later := callingTool(t, d.Upstream, toolCall(t, "1", "other", "1"), CallOptions{Caller: "c"})
		time.Sleep(doubtTime / 2)
		d.wantServed(t, "two callers", "")
		d.link.answer(d.open[0], `1`)
		<-a
		d.wantServed(t, "one caller is left of those there were", "b")

		d.asks("elicitation/create")
		time.Sleep(doubtTime - time.Second)
		d.wantServed(t, "again two callers", "")
		time.Sleep(time.Second)
		d.wantServed(t, "doubt has lasted", "refused")

		d.asks("roots/list")
		d.wantServed(t, "roots are the same for all", "incoming")
		d.link.answer(d.open[1], `1`)
		<-b
		d.link.answer(d.open[2], `1`)
		<-later
	})
}

// A tool that once made the server ask is called for one caller at a time. The next request can
// then be attributed.
func TestCallsThatMayAskQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoubtful(t)
		first := d.call(t, "a")
		d.asks("elicitation/create")
		d.wantServed(t, "a call by itself", "a")
		second, third := d.call(t, "b"), d.call(t, "a")
		if len(d.open) != 2 {
			t.Fatalf("%d calls are at the server, want the two of one caller", len(d.open))
		}
		d.asks("elicitation/create")
		d.wantServed(t, "the caller whose turn it is", "a")
		d.link.answer(d.open[0], `1`)
		d.link.answer(d.open[1], `1`)
		<-first
		<-third
		synctest.Wait()
		if len(d.open) != 3 {
			t.Fatalf("%d calls came to the server, want the next caller's too", len(d.open))
		}
		d.asks("elicitation/create")
		d.wantServed(t, "the next caller", "b")

		waits := d.call(t, "a")
		time.Sleep(doubtTime)
		synctest.Wait()
		if len(d.open) != 4 {
			t.Errorf("%d calls came to the server, want that none waits for ever", len(d.open))
		}
		d.link.answer(d.open[2], `1`)
		d.link.answer(d.open[3], `1`)
		<-second
		<-waits
	})
}

// A call's timeout pauses while its server waits for its client, and restarts when the server has
// its answer.
func TestTimeoutRestsWhileAPersonThinks(t *testing.T) {
	const limit, thinks = 10 * time.Second, 5 * time.Minute
	for _, c := range []struct {
		rule   string
		others int // number of concurrent other calls
	}{
		{"of the only call", 0},
		{"of every call that may be meant", 2},
	} {
		t.Run(c.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				person := handlerFunc(func(_ context.Context, m *wire.Message) []byte {
					time.Sleep(thinks)
					return wire.AppendResult(nil, m.ID, []byte(`{}`))
				})
				var answered time.Time
				u := fakeUpstream(t, Options{ResponseTimeout: limit, Incoming: person}, silent(func(_ *fakeLink, req request) {
					if req.Method == "" {
						answered = time.Now()
					}
				}))
				stop := run(t, u)
				defer stop()
				synctest.Wait()
				link := u.server.(*supervisor).now.Load().conn.link.(*fakeLink)
				var waiting []<-chan outcome
				for range c.others + 1 {
					waiting = append(waiting, calling(t, u, "1", CallOptions{Related: person, Caller: "one"}))
				}
				time.Sleep(limit / 2)
				link.say(`{"jsonrpc":"2.0","id":"q","method":"elicitation/create"}`)
				synctest.Wait()
				later := calling(t, u, "1", CallOptions{Caller: "one"}) // cannot have caused it
				began := time.Now()
				wantError(t, (<-later).err, Timeout, 0)
				if d := time.Since(began); d != limit {
					t.Errorf("a later call timed out after %s", d)
				}
				for _, o := range waiting {
					wantError(t, (<-o).err, Timeout, 0)
					if d := time.Since(answered); d != limit {
						t.Errorf("timed out %s after the answer to its server, want %s", d, limit)
					}
				}
				if d := answered.Sub(began); d != thinks {
					t.Errorf("answered after %s", d)
				}
			})
		})
	}
}

// Any number of slow requests to people does not block anything else.
func TestRequestThatTakesLongBlocksNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const people = 500
		var thinking atomic.Int32
		heard := make(chan string, 10)
		handler := handlerFunc(func(ctx context.Context, m *wire.Message) []byte {
			if m.Kind() == wire.Notification {
				heard <- m.Method
				return nil
			}
			if m.Method == "roots/list" {
				return wire.AppendResult(nil, m.ID, []byte(`{"roots":[]}`))
			}
			thinking.Add(1)
			<-ctx.Done()
			return nil
		})
		answers := make(chan string, 4*inboxServing)
		u := fakeUpstream(t, Options{Incoming: handler}, silent(func(l *fakeLink, req request) {
			switch req.Method {
			case "tools/call":
				l.answer(req.ID, `1`)
			case "":
				answers <- string(req.Result)
			}
		}))
		stop := run(t, u)
		synctest.Wait()
		link := u.server.(*supervisor).now.Load().conn.link.(*fakeLink)
		for i := range people {
			link.say(`{"jsonrpc":"2.0","id":%d,"method":"elicitation/create"}`, i)
		}
		synctest.Wait()
		if n := thinking.Load(); n != people {
			t.Errorf("%d are asked, want %d", n, people)
		}
		began := time.Now()
		mustCall(t, u, toolCall(t, "1", "x", "1"), `1`)
		link.say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		if got := <-heard; got != "notifications/tools/list_changed" {
			t.Errorf("heard %q", got)
		}
		link.say(`{"jsonrpc":"2.0","id":"r","method":"roots/list"}`)
		if got := <-answers; got != `{"roots":[]}` {
			t.Errorf("answered %s", got)
		}
		for i := range 2 * inboxServing {
			link.say(`{"jsonrpc":"2.0","id":"more %d","method":"elicitation/create"}`, i)
		}
		if got := <-answers; got != "" { // an error
			t.Errorf("one too many was answered with %s", got)
		}
		if d := time.Since(began); d != 0 {
			t.Errorf("all this waited %s", d)
		}
		stop() // waits for the pending requests: their context ends
	})
}

// When a call ends, its pending requests to the client end, and the server gets an answer.
func TestRequestOfACallThatEnds(t *testing.T) {
	for _, c := range []struct {
		rule string
		end  func(l *fakeLink, call json.RawMessage, cancel context.CancelFunc)
	}{
		{"because its caller leaves", func(_ *fakeLink, _ json.RawMessage, cancel context.CancelFunc) { cancel() }},
		{"because it is answered", func(l *fakeLink, call json.RawMessage, _ context.CancelFunc) { l.answer(call, `1`) }},
	} {
		t.Run(c.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var open json.RawMessage
				answers := make(chan string, 1)
				u := fakeUpstream(t, Options{}, silent(func(_ *fakeLink, req request) {
					switch req.Method {
					case "tools/call":
						open = req.ID
					case "":
						answers <- string(req.ID) + string(req.Error)
					}
				}))
				stop := run(t, u)
				defer stop()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				go u.CallWith(ctx, toolCall(t, "1", "x", "1"), CallOptions{Related: handlerFunc(func(ctx context.Context, _ *wire.Message) []byte {
					<-ctx.Done()
					return nil
				})})
				synctest.Wait()
				link := u.server.(*supervisor).now.Load().conn.link.(*fakeLink)
				link.say(`{"jsonrpc":"2.0","id":"q","method":"elicitation/create"}`)
				synctest.Wait()
				c.end(link, open, cancel)
				if got := <-answers; !strings.HasPrefix(got, `"q"{"code":-32603`) {
					t.Errorf("the server got %s", got)
				}
			})
		})
	}
}

func TestRequestThatItsHandlerDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan string, 1)
		u := fakeUpstream(t, Options{Incoming: handlerFunc(func(context.Context, *wire.Message) []byte { return nil })},
			silent(func(_ *fakeLink, req request) { answer <- string(req.ID) + string(req.Error) }))
		stop := run(t, u)
		defer stop()
		synctest.Wait()
		u.server.(*supervisor).now.Load().conn.link.(*fakeLink).say(`{"jsonrpc":"2.0","id":"q","method":"roots/list"}`)
		if got := <-answer; !strings.HasPrefix(got, `"q"{"code":-32603`) {
			t.Errorf("the server got %s", got)
		}
	})
}

// Progress is reported under the token that the caller chose, or not at all.
func TestProgressThatNobodyAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		hear := handlerFunc(func(_ context.Context, m *wire.Message) []byte {
			got = append(got, string(m.Params))
			return nil
		})
		progress := func(l *fakeLink, token string, from source) {
			l.s.receive(context.Background(), fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, token), from)
		}
		u := fakeUpstream(t, Options{Incoming: hear}, silent(func(l *fakeLink, req request) {
			c := l.s.calls.find(wire.IDOf(req.ID))
			// on the shared stream, and on the call's own
			for _, from := range []source{{}, {call: c}} {
				progress(l, string(req.ID), from)
				progress(l, `"other"`, from)
				progress(l, `777`, from)
			}
			l.answer(req.ID, `1`)
			progress(l, string(req.ID), source{})
			progress(l, string(req.ID), source{call: c})
		}))
		stop := run(t, u)
		defer stop()
		for _, c := range []struct {
			rule, params string
			want         int
		}{
			{"a caller that gave no token hears none", `{"name":"x"}`, 0},
			{"a caller hears what has its own", `{"name":"x","_meta":{"progressToken":"mine"}}`, 2},
		} {
			got = nil
			_, err := u.CallWith(t.Context(), message(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`+c.params+`}`), CallOptions{Related: hear})
			synctest.Wait()
			if err != nil || len(got) != c.want {
				t.Errorf("%s: %q, %v", c.rule, got, err)
			}
			for _, g := range got {
				if g != `{"progressToken":"mine","progress":1}` {
					t.Errorf("%s: %s", c.rule, g)
				}
			}
		}
	})
}

// All notifications before the answer are served in order before the call returns, however many.
func TestRelatedNotificationsComeFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 10_000
		u := fakeUpstream(t, Options{}, silent(func(l *fakeLink, req request) {
			for i := range n {
				l.say(`{"jsonrpc":"2.0","method":"notifications/message","params":[%d]}`, i)
			}
			l.answer(req.ID, `1`)
			l.say(`{"jsonrpc":"2.0","method":"notifications/message","params":["late"]}`)
		}))
		stop := run(t, u)
		defer stop()
		next := 0
		_, err := u.CallWith(t.Context(), toolCall(t, "1", "x", "1"), CallOptions{Related: handlerFunc(func(_ context.Context, m *wire.Message) []byte {
			if string(m.Params) != fmt.Sprintf("[%d]", next) {
				t.Errorf("got %s, want %d", m.Params, next)
			}
			next++
			return nil
		})})
		if err != nil || next != n {
			t.Errorf("%d of %d were served, %v", next, n, err)
		}
	})
}

func TestMailboxHasABound(t *testing.T) {
	b := &mailbox{}
	small, large := &wire.Message{Raw: make([]byte, 100)}, &wire.Message{Raw: make([]byte, mailboxBytes)}
	for range mailboxRoom {
		if !b.offer(small) {
			t.Fatal("there is no room for a small one")
		}
	}
	if b.offer(small) {
		t.Error("there is room for one more")
	}
	if n := len(b.take()); n != mailboxRoom {
		t.Errorf("took %d", n)
	}
	if !b.offer(large) || b.offer(small) {
		t.Error("large messages are not counted by their size")
	}
}

func TestLateAnswersAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var late []json.RawMessage
		u := fakeUpstream(t, Options{}, silent(func(l *fakeLink, req request) {
			switch req.Params.Name {
			case "hang":
				late = append(late, req.ID)
			case "echo":
				for _, id := range late {
					l.answer(id, `"late"`)
				}
				l.answer(req.ID, `"mine"`)
			}
		}))
		stop := run(t, u)
		defer stop()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := u.Call(ctx, toolCall(t, "1", "hang", "1")); err == nil {
			t.Error("the call has an answer")
		}
		_, err := u.Call(t.Context(), toolCall(t, "1", "hang", "1"))
		wantError(t, err, Timeout, 0)
		if len(late) != 2 {
			t.Errorf("%d calls came", len(late))
		}
		mustCall(t, u, toolCall(t, "1", "echo", "1"), `"mine"`)
		mustCall(t, u, toolCall(t, "1", "echo", "1"), `"mine"`)
	})
}

// A modern server's notification for a subscription carries the caller's id and goes to the
// caller's handler.
func TestSubscriptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const discovered = `{"supportedVersions":["2026-07-28"],"capabilities":{}}`
		var link *fakeLink
		listening := make(chan string, 10)
		u := fakeUpstream(t, Options{
			Settings: Settings{Protocol: ProtocolModern},
			Incoming: handlerFunc(func(_ context.Context, m *wire.Message) []byte {
				listening <- "incoming " + string(m.Params)
				return nil
			}),
		}, func(l *fakeLink) error {
			link = l
			l.serve = func(l *fakeLink, req request) {
				switch req.Method {
				case "server/discover":
					l.answer(req.ID, discovered)
				case "subscriptions/listen":
					l.say(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"a":1,"io.modelcontextprotocol/subscriptionId":%s}}}`, req.ID)
				}
			}
			return nil
		})
		stop := run(t, u)
		defer stop()
		listen := func(id string, related Handler) {
			req := message(t, `{"jsonrpc":"2.0","id":`+id+`,"method":"subscriptions/listen","params":{}}`)
			go u.CallWith(t.Context(), req, CallOptions{Own: true, Patient: true, Related: related})
			synctest.Wait()
		}
		listen(`"first"`, handlerFunc(func(_ context.Context, m *wire.Message) []byte {
			listening <- "first " + string(m.Params)
			return nil
		}))
		listen(`"second"`, nil)
		time.Sleep(24 * 7 * time.Hour) // longer than any timeout
		link.say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":777}}}`)
		for _, want := range []string{
			`first {"_meta":{"a":1,"io.modelcontextprotocol/subscriptionId":"first"}}`,
			`incoming {"_meta":{"a":1,"io.modelcontextprotocol/subscriptionId":"second"}}`,
			`incoming {"_meta":{"io.modelcontextprotocol/subscriptionId":777}}`,
		} {
			if got := <-listening; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	})
}
