package originals_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/store/originals"
)

// silent is a store whose Get fails.
type silent struct{ originals.Memory }

func (*silent) Get(context.Context, string, string) (string, error) {
	return "", originals.ErrUnavailable
}

func (*silent) Close() error { return nil }

// A failing store is logged once a minute, with a count. An unknown text is not logged.
func TestUnreadOriginalsAreToldOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s := originals.WithReports(&silent{}, slog.New(slog.NewTextHandler(&log, nil)))
		for range 3 {
			for range 100 {
				if _, err := s.Get(t.Context(), "", "prn_1"); !errors.Is(err, originals.ErrUnavailable) {
					t.Fatal(err)
				}
			}
			time.Sleep(time.Minute)
		}
		if lines := strings.Count(log.String(), "originals not read"); lines != 3 || !strings.Contains(log.String(), "count=1 ") || !strings.Contains(log.String(), "count=100 ") {
			t.Errorf("%d lines for 300 in three minutes, want 3:\n%s", lines, log.String())
		}
		log.Reset()
		if _, err := originals.WithReports(&originals.Memory{}, slog.New(slog.NewTextHandler(&log, nil))).Get(t.Context(), "", "prn_1"); !errors.Is(err, originals.ErrNotFound) || log.Len() > 0 {
			t.Errorf("what was never kept: %v, told %q", err, log.String())
		}
	})
}

// mute is a store that never answers.
type mute struct{ originals.Memory }

func (*mute) Put(ctx context.Context, _, _ string) (string, error) {
	<-ctx.Done()
	return "", originals.ErrUnavailable
}

func (*mute) Get(ctx context.Context, _, _ string) (string, error) {
	<-ctx.Done()
	return "", originals.ErrUnavailable
}

func (*mute) Close() error { return nil }

// A canceled caller is not reported as a fault of the store. A timeout is.
func TestWhoHasGoneIsNoFaultOfTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s := originals.WithReports(&mute{}, slog.New(slog.NewTextHandler(&log, nil)))
		ask := func(ctx context.Context) {
			t.Helper()
			_, put := s.Put(ctx, "", "text")
			if _, err := s.Get(ctx, "", "prn_1"); !errors.Is(err, originals.ErrUnavailable) || !errors.Is(put, originals.ErrUnavailable) {
				t.Fatal(put, err)
			}
		}
		gone, leave := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, leave)
		if ask(gone); log.Len() > 0 {
			t.Errorf("a caller who has gone is told of: %s", log.String())
		}
		late, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if ask(late); !strings.Contains(log.String(), "originals not kept") || !strings.Contains(log.String(), "originals not read") {
			t.Errorf("a store that does not answer is told as %q", log.String())
		}
	})
}
