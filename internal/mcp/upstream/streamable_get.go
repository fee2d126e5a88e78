package upstream

// MCP, "Transports", Streamable HTTP: "Listening for Messages from the Server", the client's side.

import (
	"context"
	"net/http"
)

// stand keeps the standing stream of the newest session open.
func (l *streamable) stand(ctx context.Context) {
	var current context.CancelFunc
	for {
		select {
		case <-ctx.Done():
			if current != nil {
				current()
			}
			return
		case now := <-l.listen:
			if current != nil {
				current()
			}
			var streamCtx context.Context
			streamCtx, current = context.WithCancel(ctx)
			l.work.run(func() { l.standFor(streamCtx, now) })
		}
	}
}

// offerStand switches the standing stream to this session.
func (l *streamable) offerStand(now sessionID) {
	select {
	case <-l.listen: // drop an older session
	default:
	}
	select {
	case l.listen <- now:
	default:
	}
}

// standFor listens to one session. A missing or broken stream is not an error.
func (l *streamable) standFor(ctx context.Context, now sessionID) {
	var waits Backoff
	var at resumePoint
	for {
		if l.standOnce(ctx, now, &at) {
			return
		}
		if at.moved {
			waits.Reset()
			at.moved = false
		}
		if !pauseFor(ctx, max(waits.Next(), at.delay)) {
			return
		}
	}
}

// standOnce opens the stream and reads it to its end. over means that the server refuses the
// stream.
func (l *streamable) standOnce(ctx context.Context, now sessionID, at *resumePoint) (over bool) {
	resp, err := l.openStream(ctx, now, at.id)
	if err != nil {
		return ctx.Err() != nil
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK || !isEventStream(resp) {
		return resp.StatusCode < 500
	}
	r, err := l.endpoint.reader(resp)
	if err != nil {
		return true
	}
	events := l.s.u.newEvents(r)
	events.lastID = at.id
	for {
		ev, err := events.next()
		if err != nil {
			return ctx.Err() != nil
		}
		l.take(ctx, &ev, at, source{})
	}
}
