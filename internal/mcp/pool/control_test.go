package pool

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// Restart reopens shared and private connections. Refresh fetches the lists again.
func TestRestartAndRefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, idle := newFake(t, "x"), newFake(t, "y")
		f := poolOf(t, Options{FirstListWait: 10 * time.Second}, map[string]*fake{"a": a, "idle": idle})
		stop := run(t, f)
		defer stop()
		m := f.Join(legacy(`{}`), &ears{})
		defer m.Leave()
		wantTools(t, m, "a::x", "idle::y")
		before := f.Status()[0]
		if err := f.Restart(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if st := f.Status()[0]; st.Restarts != before.Restarts+1 || st.State != "ready" || f.Status()[1].Restarts != 0 {
			t.Errorf("after a restart: %+v", st)
		}
		asked := a.count("tools/list")
		if err := f.Refresh(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if n := a.count("tools/list"); n != asked+1 {
			t.Errorf("tools/list came %d times, want %d", n, asked+1)
		}
		if d, ok := f.Details("a"); !ok || len(d.Lists.Tools) != 1 || d.Settings.ID != "a" || d.Stderr(9) != nil {
			t.Errorf("Details = %+v, %v", d, ok)
		}
		if err := f.Restart(t.Context(), "b"); !errors.Is(err, ErrUnknownServer) {
			t.Errorf("Restart of none: %v", err)
		}
		if _, ok := f.Details("b"); ok {
			t.Error("Details of a server that is not there")
		}
	})
}

// Restart starts a server that has not been needed yet.
func TestRestartOfOneThatRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newFake(t, "x")
		f := poolOf(t, Options{}, map[string]*fake{"a": a})
		stop := run(t, f)
		defer stop()
		if err := f.Restart(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if st := f.Status()[0]; st.State != "ready" || st.Restarts != 0 {
			t.Errorf("Status = %+v", st)
		}
	})
}
