package downstream

// JSON-RPC 2.0, "Batch", which MCP has in revision 2025-03-26 only.

import (
	"net/http"
	"sync"

	"secateur/internal/mcp/rpchttp"
	"secateur/internal/mcp/wire"
)

// maxBatch is how many messages a batch may have.
const maxBatch = 100

// postBatch takes a batch, which clients of one revision may send within their session.
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

// checkBatch refuses a batch whatever session it belongs to.
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

// batch is several messages that came as one.
type batch struct {
	messages []wire.Message // a zero one stands for one that could not be read
	invalid  []*Answer      // to those
	requests int
}

// readBatch reads all messages of a batch. One that is wrong does not concern the others.
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

// inBatch has the session take the messages of a batch in their order. Its requests run side by side.
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
			a.Status = 0 // the batch has one for all
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

// joinAnswers makes the answer to a batch; nil if none of its requests has one. The answers are released.
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
