package downstream

// JSON-RPC 2.0, "Batch", which MCP has only in revision 2025-03-26.

import (
	"net/http"
	"sync"

	"secateur/internal/mcp/rpchttp"
	"secateur/internal/mcp/wire"
)

// maxBatch is the maximum number of messages in a batch.
const maxBatch = 100

// postBatch handles a batch. Clients of one revision may send it within their session.
func (q *request) postBatch(body []byte) {
	var s *httpSession
	failed := q.checkBatch()
	if failed == nil {
		s, failed = q.session(q.r.Header.Get(headerSession), false)
	}
	if failed != nil {
		q.refuse(wire.ID{}, failed)
		return
	}
	defer s.leave()
	if !batches(s.version()) {
		q.refuse(wire.ID{}, noBatch())
		return
	}
	batch, bad := readBatch(body)
	switch {
	case bad != nil:
		q.refuse(wire.ID{}, rpchttp.BadRequest(bad))
	case batch.requests > 0 && q.accept == accepts{}:
		q.refuse(wire.ID{}, unacceptable())
	case batch.requests < len(batch.messages) && !q.mayUse(s):
		q.refuse(wire.ID{}, q.unauthorized())
	default:
		q.inBatch(s, batch)
	}
}

// checkBatch makes the checks that do not depend on the session.
func (q *request) checkBatch() *rpchttp.Failure {
	switch {
	case q.server == nil:
		return q.unknownServer()
	case !q.knowsVersion():
		return q.unsupportedVersion()
	case q.r.Header.Get(headerSession) == "":
		return noBatch()
	}
	return nil
}

// batch is several messages received as one.
type batch struct {
	messages []wire.Message // unreadable messages are left out
	invalid  []*Answer      // the answers to those
	requests int
}

// readBatch parses all messages of a batch. An invalid message does not affect the others.
func readBatch(body []byte) (batch, *wire.Error) {
	elements, bad := wire.ParseBatch(body, wire.MaxRequestDepth, maxBatch)
	if bad != nil {
		return batch{}, bad
	}
	var b batch
	for _, raw := range elements {
		msg, bad := wire.ParseClient(raw, wire.MaxRequestDepth)
		switch {
		case bad != nil:
			b.invalid = append(b.invalid, &Answer{Body: bad.AppendResponse(nil, msg.ID)})
			continue
		case msg.Method == methodInitialize:
			return batch{}, wire.NewError(wire.CodeInvalidRequest, "initialize must not be part of a batch")
		case msg.Kind() == wire.Request:
			b.requests++
		}
		b.messages = append(b.messages, msg)
	}
	return b, nil
}

// inBatch passes the messages of a batch to the session in order. Its requests run concurrently.
func (q *request) inBatch(s *httpSession, b batch) {
	x := q.responseIn(s)
	if b.requests > 0 {
		x.watch()
	}
	var (
		running sync.WaitGroup
		mu      sync.Mutex
		answers = b.invalid // guarded by mu
	)
	for i := range b.messages {
		msg := &b.messages[i]
		if msg.Kind() != wire.Request {
			s.take(s.context(q.r), msg, notice{q})
			continue
		}
		running.Go(func() {
			a := q.call(s, msg, x)
			a.Status = 0 // the batch has one status
			if !x.early(&a) {
				mu.Lock()
				defer mu.Unlock()
				answers = append(answers, &a)
			}
		})
	}
	running.Wait()
	if b.requests == 0 && len(answers) == 0 {
		q.w.WriteHeader(http.StatusAccepted)
		return
	}
	x.finish(true, answers...)
}

// joinAnswers builds the answer to a batch, and releases the single answers. It returns nil if all
// are empty.
func joinAnswers(answers []*Answer) []byte {
	var out []byte
	for _, a := range answers {
		if len(a.Body) > 0 {
			out = append(append(out, ','), a.Body...)
		}
		a.free()
	}
	if len(out) == 0 {
		return nil
	}
	out[0] = '['
	return append(out, ']')
}
