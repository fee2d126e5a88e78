package proxy_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"secateur/internal/llm/proxy"
	"secateur/internal/store/originals"
)

// together is a store that answers the first Put, and later ones once a number of them are waiting.
type together struct {
	originals.Memory

	want int
	all  chan struct{} // closed when they are
	err  error         // of all but the first

	mu                      sync.Mutex // guards the fields below
	calls, inside, mostOnce int
}

func (s *together) Put(ctx context.Context, tenant, text string) (string, error) {
	s.mu.Lock()
	s.calls++
	isFirst := s.calls == 1
	s.inside++
	s.mostOnce = max(s.mostOnce, s.inside)
	if s.calls == 1+s.want {
		close(s.all)
	}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.inside--
		s.mu.Unlock()
	}()
	if isFirst {
		return s.Memory.Put(ctx, tenant, text)
	}
	select {
	case <-s.all:
	case <-time.After(time.Minute):
	}
	if s.err != nil {
		return "", s.err
	}
	return s.Memory.Put(ctx, tenant, text)
}

func TestOriginalsAreKeptSomeAtATime(t *testing.T) {
	const atOnce, turns, window = 8, 40, 8
	for _, tt := range []struct {
		rule          string
		err           error
		calls, masked int
	}{
		{"all of them", nil, turns - window, turns - window},
		{"a store that goes away is not asked for the rest", originals.ErrUnavailable, 1 + atOnce, 1},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			s := &together{want: atOnce, all: make(chan struct{}), err: tt.err}
			p := newProvider(t, jsonAnswer(smallAnswer))
			px := newProxy(t, func(o *proxy.Options) { o.Masking, o.Originals = masking("sliding"), s }, one(p))
			k := newTalk()
			for i := range turns {
				k.turn("read_file", "{}", result(i, 20))
			}
			body := k.request("m")
			px.post(t, body)
			got := string(p.last(t).body)
			if s.calls != tt.calls || s.mostOnce != atOnce {
				t.Errorf("%d originals were put, %d at once, want %d and %d", s.calls, s.mostOnce, tt.calls, atOnce)
			}
			if masked := strings.Count(got, "Observation masqu"); masked != tt.masked {
				t.Errorf("%d masked, want %d", masked, tt.masked)
			}
		})
	}
}
