package upstream

import (
	"errors"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/secret"
)

// Restart waits for its result: a new connection, or an error. It does not overwrite the previous
// error.
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var links atomic.Int64
		var broken atomic.Bool
		u := fakeUpstream(t, Options{}, func(l *fakeLink) error {
			links.Add(1)
			if broken.Load() {
				return errors.New("no database")
			}
			l.answerAll(`1`)
			return nil
		})
		stop := run(t, u)
		defer stop()
		mustCall(t, u, toolCall(t, "1", "x", "1"), `1`)
		began := time.Now()
		if err := u.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		if st := u.Status(); links.Load() != 2 || st.State != Ready || st.Restarts != 1 || st.LastError != "" || time.Since(began) > 0 {
			t.Errorf("after a restart of %s: %d links, %+v", time.Since(began), links.Load(), st)
		}
		broken.Store(true)
		if err := u.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		if st := u.Status(); st.State != Down || st.LastError == "" || links.Load() != 3 || !st.Up.IsZero() {
			t.Errorf("after a restart that failed: %d links, %+v", links.Load(), st)
		}
		broken.Store(false)
		if err := u.Restart(t.Context()); err != nil { // it does not wait for the backoff
			t.Fatal(err)
		}
		if st := u.Status(); st.State != Ready || time.Since(began) > 0 || !st.Up.Equal(began) {
			t.Errorf("after %s: %+v", time.Since(began), st)
		}
	})
}

// Restart aborts a hanging start and begins another. It does not wait longer than a call would.
func TestRestartOfAHangingStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u, starts := installing(t, 20*time.Second, time.Hour)
		stop := run(t, u)
		defer stop()
		time.Sleep(30 * time.Second)
		began := time.Now()
		if err := u.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n, took := starts.Load(), time.Since(began); n != 2 || took != 26*time.Second {
			t.Errorf("%d starts, waited %s; want 2, startup_timeout and the steps of stopping", n, took)
		}
	})
}

// A restart requested just as a start succeeds is not lost.
func TestRestartAsTheServerComesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u, starts := installing(t, 20*time.Second, 5*time.Second)
		stop := run(t, u)
		defer stop()
		time.Sleep(5 * time.Second)
		if err := u.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		if st := u.Status(); starts.Load() != 2 || st.State != Ready {
			t.Errorf("%d starts, %+v", starts.Load(), st)
		}
	})
}

// A process's standard error can be read after its end, with secrets masked.
func TestStderr(t *testing.T) {
	u := start(t, Options{Settings: Settings{
		ID: "files", Command: []string{"sh", "-c", "echo one >&2; echo token $TOKEN >&2; exit 3"},
		Env: map[string]secret.Text{"TOKEN": secret.New("hunter2-hunter2")},
	}, BaseEnv: []string{"PATH=" + os.Getenv("PATH")}})
	want := []string{"one", "token [secret]"}
	eventually(t, "its standard error", func() bool { return slices.Equal(u.Stderr(100), want) })
	if got := u.Stderr(1); !slices.Equal(got, want[1:]) {
		t.Errorf("Stderr(1) = %q", got)
	}
}
