package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/mcp/era"
	"secateur/internal/mcp/wire"
)

func TestBackOffGrowsAndNeverEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Time
		u := fakeUpstream(t, Options{}, func(*fakeLink) error {
			at = append(at, time.Now())
			return errors.New("no")
		})
		stop := run(t, u)
		time.Sleep(30 * time.Minute)
		stop()
		want := backoffFirst
		for i := 1; i < len(at); i++ {
			if d := at[i].Sub(at[i-1]); d < want/2 || d > want {
				t.Errorf("wait %d = %s, want between %s and %s", i, d, want/2, want)
			}
			want = min(want*2, backoffLast)
		}
		if len(at) < 30 {
			t.Errorf("%d attempts in half an hour", len(at))
		}
		if st := u.Status(); st.State != Stopped || !strings.Contains(st.LastError, "no") {
			t.Errorf("Status = %+v", st)
		}
	})
}

func TestBackOffStartsAnewAfterSustainedUptime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var uptime, lastWait atomic.Int64
		uptime.Store(int64(time.Second))
		var ended time.Time // used by one link after the other
		u := fakeUpstream(t, Options{}, func(l *fakeLink) error {
			l.serve = func(l *fakeLink, req request) { l.shakeHands(req) }
			if !ended.IsZero() {
				lastWait.Store(int64(time.Since(ended)))
			}
			time.AfterFunc(time.Duration(uptime.Load()), func() {
				ended = time.Now()
				l.die("crashed")
			})
			return nil
		})
		stop := run(t, u)
		defer stop()
		time.Sleep(5 * time.Minute)
		if last := time.Duration(lastWait.Load()); last < 15*time.Second {
			t.Errorf("wait after many crashes = %s, want it to have grown", last)
		}
		uptime.Store(int64(2 * sustained))
		time.Sleep(20 * time.Minute)
		if last := time.Duration(lastWait.Load()); last > backoffFirst {
			t.Errorf("wait after sustained uptime = %s", last)
		}
	})
}

func TestCallWakesAServerOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var attempts atomic.Int64
		var works atomic.Bool
		u := fakeUpstream(t, Options{}, func(l *fakeLink) error {
			attempts.Add(1)
			if !works.Load() {
				return errors.New("no database")
			}
			l.answerAll(`1`)
			return nil
		})
		stop := run(t, u)
		defer stop()
		time.Sleep(10 * time.Minute) // the backoff is a minute by now
		synctest.Wait()
		before := attempts.Load()
		_, err := u.Call(t.Context(), toolCall(t, "1", "x", "1"))
		wantError(t, err, Unavailable, 0, "no database")
		if n := attempts.Load() - before; n > 1 {
			t.Errorf("one call made %d attempts", n)
		}
		before = attempts.Load()
		failed := time.Now()
		for range 10 { // right after an attempt, calls do not trigger another
			_, err = u.Call(t.Context(), toolCall(t, "1", "x", "1"))
			wantError(t, err, Unavailable, 0, "no database")
		}
		if n, d := attempts.Load()-before, time.Since(failed); n > 0 || d > 0 {
			t.Errorf("%d more attempts in %s", n, d)
		}
		works.Store(true)
		time.Sleep(wakeAfter)
		began := time.Now()
		mustCall(t, u, toolCall(t, "1", "x", "1"), `1`)
		if d := time.Since(began); d != 0 {
			t.Errorf("the call waited %s", d)
		}
	})
}

func TestCallDuringACrashWaitsForTheNextSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		links := 0
		u := fakeUpstream(t, Options{}, func(l *fakeLink) error {
			links++
			l.serve = func(l *fakeLink, req request) {
				if l.shakeHands(req) {
					return
				}
				if req.Params.Name == "crash" {
					l.die("crashed")
					return
				}
				l.answer(req.ID, `1`)
			}
			return nil
		})
		stop := run(t, u)
		defer stop()
		for range 5 {
			mustCall(t, u, toolCall(t, "1", "x", "1"), `1`)
			_, err := u.Call(t.Context(), toolCall(t, "1", "crash", "1"))
			wantError(t, err, Unavailable, 0, "crashed")
			began := time.Now()
			mustCall(t, u, toolCall(t, "1", "x", "1"), `1`)
			if d := time.Since(began); d > 0 {
				t.Errorf("a call after a crash waited %s", d)
			}
		}
		if links != 6 || u.Status().Restarts != 5 {
			t.Errorf("%d links, Status = %+v", links, u.Status())
		}
	})
}

func TestHeartbeat(t *testing.T) {
	for _, c := range []struct {
		rule          string
		beats         func(n int) bool // whether the n-th check is answered
		busy          bool
		after         time.Duration
		state         State
		links, beaten int
	}{
		{"answers keep it ready", func(int) bool { return true }, false, 65 * time.Second, Ready, 1, 6},
		{"one miss degrades it", func(n int) bool { return n != 2 }, false, 26 * time.Second, Degraded, 1, 2},
		{"an answer after a miss makes it ready", func(n int) bool { return n != 2 }, false, 35 * time.Second, Ready, 1, 3},
		{"two misses do not restart it", func(n int) bool { return n%3 == 0 }, false, 59 * time.Second, Degraded, 1, 5},
		{"three misses in a row restart it", func(n int) bool { return n > 3 }, false, 50 * time.Second, Ready, 2, 4},
		{"but not while it has a call", func(n int) bool { return n > 5 }, true, 59 * time.Second, Degraded, 1, 5},
		{"and a busy one recovers", func(n int) bool { return n > 5 }, true, 65 * time.Second, Ready, 1, 6},
	} {
		t.Run(c.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				links, pings := 0, 0
				opt := Options{HealthInterval: 10 * time.Second, HealthTimeout: 5 * time.Second, ResponseTimeout: time.Hour}
				u := fakeUpstream(t, opt, func(l *fakeLink) error {
					links++
					l.serve = func(l *fakeLink, req request) {
						if req.Method == "ping" {
							if pings++; !c.beats(pings) {
								return
							}
						}
						l.shakeHands(req)
					}
					return nil
				})
				stop := run(t, u)
				defer stop()
				synctest.Wait()
				if c.busy {
					go u.Call(t.Context(), toolCall(t, "1", "x", "1"))
				}
				time.Sleep(c.after)
				synctest.Wait()
				if st := u.Status(); st.State != c.state || links != c.links || pings != c.beaten {
					t.Errorf("state %s, %d links, %d checks; want %s, %d, %d", st.State, links, pings, c.state, c.links, c.beaten)
				}
			})
		})
	}
}

// Health checks can start, change and stop while a server runs. So can the response timeout.
func TestBoundsChangeWhileItRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pings atomic.Int64
		u := fakeUpstream(t, Options{}, func(l *fakeLink) error {
			l.serve = func(l *fakeLink, req request) {
				if req.Method == "ping" {
					pings.Add(1)
				}
				l.shakeHands(req)
			}
			return nil
		})
		stop := run(t, u)
		defer stop()
		for _, c := range []struct {
			every time.Duration
			want  int64 // checks per minute
		}{{0, 0}, {10 * time.Second, 6}, {30 * time.Second, 2}, {0, 0}} {
			u.SetBounds(Bounds{HealthInterval: c.every})
			synctest.Wait()
			before := pings.Load()
			time.Sleep(time.Minute + time.Second)
			synctest.Wait()
			if got := pings.Load() - before; got != c.want {
				t.Errorf("every %s: %d checks a minute, want %d", c.every, got, c.want)
			}
		}
		set := u.Settings()
		set.ResponseTimeout, set.StartupTimeout, set.Command = 3*time.Second, 7*time.Second, []string{"other"}
		u.SetBounds(Bounds{ResponseTimeout: time.Hour, Settings: set})
		if u.timeout() != 3*time.Second || u.startupTimeout() != 7*time.Second || len(u.Settings().Command) > 0 {
			t.Errorf("a call may take %s, a start %s, settings %+v", u.timeout(), u.startupTimeout(), u.Settings())
		}
		if st := u.Status(); st.Restarts != 0 || st.State != Ready {
			t.Errorf("it is %s after %d restarts", st.State, st.Restarts)
		}
	})
}

func TestProgressRenewsTheTimeout(t *testing.T) {
	for _, c := range []struct {
		rule  string
		token string
		signs []time.Duration // when progress arrives
		late  time.Duration   // when the answer would arrive
		fails time.Duration   // when the call times out; 0: it does not
	}{
		{"without progress it is ten seconds", `"t"`, nil, time.Minute, 10 * time.Second},
		{"an answer in time is in time", `"t"`, nil, 9 * time.Second, 0},
		{"each progress is a new start", `"t"`, []time.Duration{9 * time.Second, 18 * time.Second, 27 * time.Second}, 36 * time.Second, 0},
		{"and an end", `7`, []time.Duration{9 * time.Second}, time.Minute, 19 * time.Second},
	} {
		t.Run(c.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var cancelled string
				u := fakeUpstream(t, Options{ResponseTimeout: 10 * time.Second}, func(l *fakeLink) error {
					l.serve = func(l *fakeLink, req request) {
						if l.shakeHands(req) {
							return
						}
						if req.Method == methodCancelled {
							cancelled = string(req.Params.RequestID)
							return
						}
						for _, at := range c.signs {
							time.AfterFunc(at, func() {
								l.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, req.Params.Meta.ProgressToken)
							})
						}
						time.AfterFunc(c.late, func() { l.answer(req.ID, `1`) })
					}
					return nil
				})
				stop := run(t, u)
				defer stop()
				synctest.Wait()
				began := time.Now()
				seen := 0
				related := handlerFunc(func(_ context.Context, m *wire.Message) []byte {
					if string(m.ProgressToken()) == c.token {
						seen++
					}
					return nil
				})
				req := message(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":`+c.token+`}}}`)
				_, err := u.CallWith(t.Context(), req, CallOptions{Related: related})
				took := time.Since(began)
				if c.fails == 0 {
					if err != nil || took != c.late {
						t.Errorf("err = %v after %s", err, took)
					}
				} else {
					wantError(t, err, Timeout, 0, "10s")
					if took != c.fails || cancelled != "2" {
						t.Errorf("failed after %s, want %s; cancelled %q", took, c.fails, cancelled)
					}
				}
				if seen != len(c.signs) {
					t.Errorf("%d of %d came through", seen, len(c.signs))
				}
				time.Sleep(time.Hour) // the late answer arrives and is ignored
			})
		})
	}
}

func TestTimeoutRestsWhileTheServerWaitsForItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handler := handlerFunc(func(_ context.Context, m *wire.Message) []byte {
			time.Sleep(5 * time.Minute) // a person thinks
			return wire.AppendResult(nil, m.ID, []byte(`{}`))
		})
		u := fakeUpstream(t, Options{ResponseTimeout: 10 * time.Second, Incoming: handler}, func(l *fakeLink) error {
			var asked json.RawMessage
			l.serve = func(l *fakeLink, req request) {
				switch {
				case l.shakeHands(req):
				case req.Method == "tools/call":
					asked = req.ID
					l.say(`{"jsonrpc":"2.0","id":"q","method":"elicitation/create"}`)
				case req.Method == "":
					time.AfterFunc(9*time.Second, func() { l.answer(asked, `1`) })
				}
			}
			return nil
		})
		stop := run(t, u)
		defer stop()
		mustCallLong(t, u, toolCall(t, "1", "x", "1"), `1`)
	})
}

func mustCallLong(t *testing.T, u *Upstream, req *wire.Message, want string) {
	t.Helper()
	reply, err := u.Call(t.Context(), req)
	if err != nil || string(reply.Result) != want {
		t.Errorf("Call = %+v, %v", reply, err)
	}
}

func TestStartupTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := fakeUpstream(t, Options{}, func(l *fakeLink) error {
			l.serve = func(*fakeLink, request) {}
			return nil
		})
		stop := run(t, u)
		defer stop()
		began := time.Now()
		_, err := u.Call(t.Context(), toolCall(t, "1", "x", "1"))
		wantError(t, err, Unavailable, 0, "20s")
		if d := time.Since(began); d != DefaultStartupTimeout {
			t.Errorf("the call waited %s", d)
		}
	})
}

func TestCallBeforeRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := fakeUpstream(t, Options{}, nil)
		_, err := u.Call(t.Context(), toolCall(t, "1", "x", "1"))
		wantError(t, err, Unavailable, 0, "still starting")
	})
}

func TestEras(t *testing.T) {
	const legacy = `{"protocolVersion":"%s","capabilities":{"x":1.0},"serverInfo":{"name":"n","v":1},"instructions":"i"}`
	const modern = `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"x":1.0},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"n"}},"ttlMs":0,"cacheScope":"public"}`
	refuse := func(code int, data string) string {
		return fmt.Sprintf(`{"code":%d,"message":"no"%s}`, code, data)
	}
	for _, c := range []struct {
		rule, protocol string
		initialize     func(version string) (result, err string)
		discover       string // "": an error
		era            era.Era
		version        string
		asked          string
		fails          string
	}{
		{"auto begins with initialize", ProtocolAuto, func(v string) (string, string) { return fmt.Sprintf(legacy, v), "" }, modern, era.Legacy, "2025-11-25", "initialize 2025-11-25", ""},
		{"an older version is as good", "", func(string) (string, string) { return fmt.Sprintf(legacy, "2024-11-05"), "" }, modern, era.Legacy, "2024-11-05", "initialize 2025-11-25", ""},
		{"a method that is unknown means modern", "", func(string) (string, string) { return "", refuse(-32601, "") }, modern, era.Modern, "2026-07-28", "initialize 2025-11-25, discover", ""},
		{"a version that is not supported too", "", func(string) (string, string) {
			return "", refuse(-32022, `,"data":{"supported":["2026-07-28"],"requested":"2025-11-25"}`)
		}, modern, era.Modern, "2026-07-28", "initialize 2025-11-25, discover", ""},
		{"unless it names a legacy one", "", func(v string) (string, string) {
			if v == "2025-03-26" {
				return fmt.Sprintf(legacy, v), ""
			}
			return "", refuse(-32022, `,"data":{"supported":["2025-03-26","2024-11-05"]}`)
		}, modern, era.Legacy, "2025-03-26", "initialize 2025-11-25, initialize 2025-03-26", ""},
		{"a version that nobody knows means modern", "", func(string) (string, string) { return fmt.Sprintf(legacy, "2026-07-28"), "" }, modern, era.Modern, "2026-07-28", "initialize 2025-11-25, discover", ""},
		{"or is the error", "", func(string) (string, string) { return fmt.Sprintf(legacy, "1999-01-01"), "" }, "", "", "", "", "1999-01-01"},
		{"another error is the error", "", func(string) (string, string) { return "", refuse(-32603, "") }, modern, "", "", "", "-32603: no"},
		{"legacy asks for nothing else", ProtocolLegacy, func(string) (string, string) { return "", refuse(-32601, "") }, modern, "", "", "", "-32601"},
		{"modern does not initialize", ProtocolModern, func(string) (string, string) { return "", "" }, modern, era.Modern, "2026-07-28", "discover", ""},
		{"a modern server must speak modern", ProtocolModern, nil, `{"supportedVersions":["2025-11-25"]}`, "", "", "", "2026-07-28"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked []string
				u := fakeUpstream(t, Options{Settings: Settings{Protocol: c.protocol}}, func(l *fakeLink) error {
					l.serve = func(l *fakeLink, req request) {
						result, failed := "", ""
						switch req.Method {
						case "initialize":
							version := era.LatestLegacy
							if len(asked) > 0 {
								version = "2025-03-26"
							}
							asked = append(asked, "initialize "+version)
							result, failed = c.initialize(version)
						case "server/discover":
							asked = append(asked, "discover")
							if result = c.discover; result == "" {
								failed = refuse(-32601, "")
							}
						case "x/y":
							result = `1`
						default:
							return
						}
						if failed != "" {
							l.say(`{"jsonrpc":"2.0","id":%s,"error":%s}`, req.ID, failed)
							return
						}
						l.answer(req.ID, result)
					}
					return nil
				})
				stop := run(t, u)
				defer stop()
				p, err := u.Peer(t.Context())
				if c.fails != "" {
					if err == nil || !strings.Contains(err.Error(), c.fails) {
						t.Errorf("err = %v, want %q", err, c.fails)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if got := strings.Join(asked, ", "); got != c.asked {
					t.Errorf("asked %s, want %s", got, c.asked)
				}
				if p.Era != c.era || p.Protocol != c.version || p.ServerName != "n" {
					t.Errorf("Peer = %+v", p)
				}
				for _, want := range []string{`"capabilities":{"x":1.0}`} {
					if !strings.Contains(string(p.InitializeResult()), want) || !strings.Contains(string(p.DiscoverResult()), want) {
						t.Errorf("lacks %s: %s, %s", want, p.InitializeResult(), p.DiscoverResult())
					}
				}
				mustCallLong(t, u, message(t, `{"jsonrpc":"2.0","id":1,"method":"x/y"}`), `1`)
			})
		})
	}
}

// installing is a server that answers nothing for some time after its start.
func installing(t *testing.T, limit, silence time.Duration) (u *Upstream, starts *atomic.Int32) {
	t.Helper()
	starts = &atomic.Int32{}
	u = fakeUpstream(t, Options{Settings: Settings{StartupTimeout: limit}}, func(l *fakeLink) error {
		starts.Add(1)
		began := time.Now()
		l.serve = func(l *fakeLink, req request) {
			if left := silence - time.Since(began); left > 0 {
				time.AfterFunc(left, func() {
					select {
					case <-l.ended:
					default:
						l.shakeHands(req)
					}
				})
				return
			}
			l.shakeHands(req)
		}
		return nil
	})
	u.server.(*supervisor).patience = childPatience
	return u, starts
}

// A child that runs silently may be installing itself. It is reported, but not killed.
func TestAChildThatInstallsItselfIsNotKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u, starts := installing(t, 20*time.Second, 90*time.Second)
		stop := run(t, u)
		defer stop()
		time.Sleep(19 * time.Second)
		if st := u.Status(); st.State != Starting || st.Late || st.LastError != "" {
			t.Errorf("after 19 s: %+v", st)
		}
		time.Sleep(16 * time.Second)
		if st := u.Status(); st.State != Starting || !st.Late || !strings.HasPrefix(st.LastError, "starting, 35 s: no answer yet; its output: none; startup_timeout = 20") {
			t.Errorf("after 35 s: %+v", st)
		}
		began := time.Now()
		_, err := u.Call(t.Context(), toolCall(t, "1", "x", "1"))
		wantError(t, err, Unavailable, 0, "starting, 35 s", "startup_timeout")
		if took := time.Since(began); took > 0 {
			t.Errorf("a call waited %s for a server that is late", took)
		}
		time.Sleep(56 * time.Second)
		if st := u.Status(); st.State != Ready || st.Late || st.Restarts != 0 || starts.Load() != 1 {
			t.Errorf("after 91 s and %d starts: %+v", starts.Load(), st)
		}
	})
}

// A call to a starting server waits for it until the startup timeout.
func TestACallWaitsForAStartInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u, _ := installing(t, 20*time.Second, time.Hour)
		stop := run(t, u)
		defer stop()
		time.Sleep(5 * time.Second)
		began := time.Now()
		_, err := u.Call(t.Context(), toolCall(t, "1", "x", "1"))
		wantError(t, err, Unavailable, 0, "starting, 20 s", "startup_timeout")
		if took := time.Since(began); took != 15*time.Second {
			t.Errorf("it waited %s, want until startup_timeout is over", took)
		}
	})
}

// A child that never answers is restarted after ten times its startup_timeout.
func TestAChildThatNeverSpeaksIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u, starts := installing(t, 20*time.Second, time.Hour)
		stop := run(t, u)
		defer stop()
		time.Sleep(199 * time.Second)
		if n := starts.Load(); n != 1 {
			t.Errorf("%d starts after 199 s", n)
		}
		time.Sleep(3 * time.Second)
		if n := starts.Load(); n != 2 {
			t.Errorf("%d starts after 202 s, want 2", n)
		}
	})
}
