package app

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"secateur/internal/ops/events"
	"secateur/internal/ops/replica"
)

// Every replica's control plane shows the events of all. Four times a second a relay posts its
// recent events on boards that the others read. Requests have a separate board, so that many
// requests do not push out the few cuts.
var (
	requestBoard = replica.Board{Name: "requests", Keep: 64}
	eventBoard   = replica.Board{Name: "events", Keep: 512}
)

const (
	relayEvery = 250 * time.Millisecond
	relayLast  = time.Second // for the last events at shutdown
	// relayRequests is how many requests all replicas together post per interval. leastRequests is
	// the minimum for one replica. A person cannot read more. The rest is reported as a gap.
	relayRequests, leastRequests = 256, 4
	relayBytes                   = 256 << 10 // of one post
	relayRecoveries              = 256       // limit of unposted recoveries
	isThere                      = time.Minute
)

// relay posts the events of this replica, and publishes those of others here.
type relay struct {
	a    *App
	own  *events.Subscription
	gaps int // reported so far

	mu        sync.Mutex           // guards the fields below
	heard     map[string]time.Time // time of the last post of each replica
	recovered boardPost            // what was recovered here and is not yet posted
}

// boardPost is the content of a post.
type boardPost struct {
	Events    []json.RawMessage `json:"events,omitempty"`
	Recovered []string          `json:"recovered,omitempty"` // originals of which something was recovered
	Tokens    []int64           `json:"tokens,omitempty"`    // how many tokens of each
}

// relay runs a relay while ctx lives.
func (a *App) relay(ctx context.Context, work *errgroup.Group) {
	r := &relay{a: a, own: a.feed.Subscribe(events.FromStart), heard: map[string]time.Time{}}
	a.savings.Tell(r.askedFor)
	work.Go(func() error { return a.history.RunShared(ctx) })
	work.Go(func() error {
		a.replicas.Follow(ctx, []replica.Board{requestBoard, eventBoard}, r.read)
		return nil
	})
	work.Go(func() error {
		tick := time.NewTicker(relayEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				last, cancel := context.WithTimeout(context.WithoutCancel(ctx), relayLast)
				defer cancel()
				r.tell(last)
				return nil
			case <-tick.C:
				r.tell(ctx)
			}
		}
	})
}

// askedFor notes a recovery for the next post.
func (r *relay) askedFor(id string, tokens int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := &r.recovered; len(p.Recovered) < relayRecoveries {
		p.Recovered, p.Tokens = append(p.Recovered, id), append(p.Tokens, tokens)
	}
}

// tell posts new events. While the engine is down the feed keeps them.
func (r *relay) tell(ctx context.Context) {
	if r.a.redis.Up() != nil {
		return
	}
	batch := r.own.Own()
	requests, rest, lost := r.sort(batch.Events)
	lost += batch.Lost
	if !r.post(ctx, requestBoard, requests) {
		lost += uint64(len(requests.Events))
	}
	if lost > 0 {
		r.gaps++
		gap := events.Event{ID: r.a.replicas.Name() + "-gap-" + strconv.Itoa(r.gaps), At: time.Now(), Type: events.TypeGap, Data: events.Gap{Lost: lost}}
		if b, err := events.Marshal(gap); err == nil {
			rest.Events = append(rest.Events, b)
		}
	}
	if !r.post(ctx, eventBoard, rest) {
		lost += uint64(len(rest.Events))
	}
	r.a.replicas.Count(replica.EventsLost, lost)
}

// sort divides events between the boards, within bounds. lost is the number of events beyond them.
func (r *relay) sort(all []events.Event) (requests, rest boardPost, lost uint64) {
	room, left := r.requestRoom(), map[bool]int{true: relayBytes, false: relayBytes}
	for _, e := range all {
		isRequest := e.Type == events.TypeRequest
		if isRequest && room == 0 {
			lost++
			continue
		}
		b, err := events.Marshal(e)
		if err != nil || len(b) > left[isRequest] {
			lost++
			continue
		}
		left[isRequest] -= len(b)
		if isRequest {
			room--
			requests.Events = append(requests.Events, b)
			continue
		}
		rest.Events = append(rest.Events, b)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	rest.Recovered, rest.Tokens, r.recovered = r.recovered.Recovered, r.recovered.Tokens, boardPost{}
	return requests, rest, lost
}

// requestRoom returns how many requests this replica may post at once.
func (r *relay) requestRoom() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, at := range r.heard {
		if time.Since(at) > isThere {
			delete(r.heard, name)
		}
	}
	return max(leastRequests, relayRequests/(1+len(r.heard)))
}

// post sends a post and reports whether others can read it.
func (r *relay) post(ctx context.Context, b replica.Board, p boardPost) bool {
	if len(p.Events)+len(p.Recovered) == 0 {
		return true
	}
	body, err := json.Marshal(p)
	if err != nil || r.a.replicas.Post(ctx, b, body) != nil {
		return false
	}
	r.a.replicas.Count(replica.EventsSent, uint64(len(p.Events)))
	return true
}

// read publishes another replica's post here.
func (r *relay) read(p replica.Post) {
	r.mu.Lock()
	r.heard[p.From] = time.Now()
	r.mu.Unlock()
	var told boardPost
	if err := json.NewDecoder(bytes.NewReader(p.Body)).Decode(&told); err != nil {
		return // from an unknown version
	}
	r.a.replicas.Count(replica.EventsReceived, uint64(len(told.Events)))
	for _, b := range told.Events {
		e, err := events.Unmarshal(b)
		if err != nil {
			continue
		}
		if c, ok := e.Data.(events.Cut); ok {
			r.a.savings.CutElsewhere(c)
		}
		r.a.feed.Receive(p.From, e)
	}
	for i, id := range told.Recovered {
		tokens := int64(0) // an older version does not tell
		if i < len(told.Tokens) {
			tokens = told.Tokens[i]
		}
		r.a.savings.RecoveredElsewhere(id, tokens)
	}
}
