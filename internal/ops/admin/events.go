package admin

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"secateur/internal/access"
	"secateur/internal/ops/events"
)

func (a *API) events() Operation {
	names := make([]string, 0, len(events.Types()))
	for _, t := range events.Types() {
		names = append(names, string(t))
	}
	return Operation{
		ID: "streamEvents", Method: http.MethodGet, Path: "/events",
		Summary: "What happens, as server-sent events; the header Last-Event-ID resumes, and 0 is the oldest that is remembered", stream: true,
		query: []parameter{
			{name: "types", about: "only these, with commas: " + strings.Join(names, ", "), is: "string"},
			{name: "after", about: "an id, as the header Last-Event-ID, for a client that cannot set it at first; the header goes first", is: "string"},
			{name: "follow", about: "false: end with what is remembered", is: "boolean", among: []string{"true", "false"}},
		},
		serve: func(w http.ResponseWriter, r *http.Request, _ *access.Principal) error {
			wanted, err := typesOf(r.URL.Query().Get("types"), names)
			if err != nil {
				return err
			}
			follow := r.URL.Query().Get("follow")
			if follow != "" && follow != "true" && follow != "false" {
				return NewProblem(http.StatusBadRequest, CodeInvalidRequest, "follow is true or false", "")
			}
			ctx, end := untilClosed(r.Context(), a.opt.Stopping)
			defer end()
			last := cmp.Or(r.Header.Get("Last-Event-ID"), r.URL.Query().Get("after"))
			s := eventStream{w: w, out: http.NewResponseController(w), wanted: wanted, sub: a.opt.Events.Subscribe(last)}
			return s.run(ctx, follow != "false")
		},
	}
}

// untilClosed returns a context that also ends when a channel is closed.
func untilClosed(ctx context.Context, closed <-chan struct{}) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-closed:
			cancel()
		case <-ctx.Done():
		}
	})
	return ctx, func() {
		cancel()
		watching.Wait()
	}
}

func typesOf(list string, known []string) ([]string, error) {
	if list == "" {
		return known, nil
	}
	wanted := strings.Split(list, ",")
	for _, t := range wanted {
		if !slices.Contains(known, t) {
			return nil, NewProblem(http.StatusBadRequest, CodeInvalidRequest, "there are no events of the type "+quoted(t), "known are: "+strings.Join(known, ", "))
		}
	}
	return wanted, nil
}

// eventStream writes events to one client (WHATWG HTML, "Server-sent events").
type eventStream struct {
	w      http.ResponseWriter
	out    *http.ResponseController
	sub    *events.Subscription
	wanted []string
}

// heartbeat is the interval of keep-alive messages.
const heartbeat = 15 * time.Second

// run writes events until the client disconnects. Without follow it ends when no event is pending.
func (s *eventStream) run(ctx context.Context, follow bool) error {
	s.w.Header().Set("Content-Type", "text/event-stream")
	s.w.Header().Set("Cache-Control", "no-store")
	s.w.Header().Set("X-Accel-Buffering", "no")
	s.w.WriteHeader(http.StatusOK)
	_ = s.out.Flush()
	for ctx.Err() == nil {
		patience := heartbeat
		if !follow {
			patience = 0
		}
		batch, err := s.next(ctx, patience)
		switch {
		case err == nil:
			err = s.write(batch)
		case ctx.Err() == nil && follow:
			_, err = fmt.Fprint(s.w, ": still here\n\n")
		}
		if err == nil {
			err = s.out.Flush()
		}
		if err != nil {
			return nil //nolint:nilerr // ended or exhausted; no client is left to inform
		}
	}
	return nil
}

// next waits for events up to patience; 0: does not wait.
func (s *eventStream) next(ctx context.Context, patience time.Duration) (events.Batch, error) {
	if patience == 0 {
		over, cancel := context.WithCancel(ctx)
		cancel()
		return s.sub.Next(over)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return s.sub.Next(ctx)
}

func (s *eventStream) write(b events.Batch) error {
	if b.Gap {
		data, err := json.Marshal(events.Gap{Lost: b.Lost})
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(s.w, "event: gap\ndata: %s\n\n", data); err != nil {
			return err
		}
	}
	for _, e := range b.Events {
		if e.Type != events.TypeGap && !slices.Contains(s.wanted, string(e.Type)) {
			continue
		}
		data, err := json.Marshal(e.Data)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(s.w, "id: %s\nevent: %s\ndata: %s\n\n", e.ID, e.Type, data); err != nil {
			return err
		}
	}
	return nil
}
