package aggregate

import (
	"context"
	"strconv"
	"sync"
	"time"

	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/pool"
	"secateur/internal/mcp/wire"
	"secateur/internal/rawjson"
)

// pendingRequests are the requests of legacy servers that a client has not answered yet: sampling, elicitation, roots
// (2025-11-25, client features).
type pendingRequests struct {
	mu   sync.Mutex
	last int64                     // guarded by mu
	open map[int64]*pendingRequest // guarded by mu
}

// pendingRequest is one of them. Towards the client it has a number of its own, which is its id and its progress
// token.
type pendingRequest struct {
	number int64
	conn   *pool.Conn  // whose it is
	server string      // its id, where the client knows tasks by it; "": tasks have the server's own names
	id     wire.ID     // the server's
	token  wire.ID     // the server's progress token; zero: it gave none
	answer chan []byte // a whole response with the server's id
}

func (t *pendingRequests) add(about serverRequest) *pendingRequest {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open == nil {
		t.open = map[int64]*pendingRequest{}
	}
	t.last++
	q := &pendingRequest{
		number: t.last, conn: about.conn, id: about.req.ID, token: wire.IDOf(about.req.ProgressToken()), answer: make(chan []byte, 1),
	}
	if about.marked {
		q.server = about.server
	}
	t.open[q.number] = q
	return q
}

func (t *pendingRequests) drop(q *pendingRequest) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, q.number)
}

// answered gives an answer to the question that it is for. Any other is dropped.
func (t *pendingRequests) answered(r *wire.Message) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if q := t.find(r.ID); q != nil {
		delete(t.open, q.number)
		answer := r.WithID(q.id) // a copy: the client's bytes are not ours to keep
		if q.server != "" && answer.Result != nil {
			if result := catalog.UnwrapRelated(q.server, answer.Result); !same(result, answer.Result) {
				answer = answer.WithResult(result)
			}
		}
		q.answer <- answer.Raw
	}
}

// find is the question with this id. The lock is held.
func (t *pendingRequests) find(id wire.ID) *pendingRequest {
	n, err := strconv.ParseInt(id.String(), 10, 64)
	if err != nil {
		return nil
	}
	return t.open[n]
}

// byToken is the question whose progress is reported under a token.
func (t *pendingRequests) byToken(token wire.ID) *pendingRequest {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.find(token)
}

// serverRequest is a server's request as the client is to get it.
type serverRequest struct {
	server string     // "": it is our own
	conn   *pool.Conn // nil: the same
	req    *wire.Message
	marked bool // the client is told whose it is
	send   func(msg []byte) bool
	heard  func() bool // the client is there now; nil: it need not be
}

// askClient puts a server's request to the client and waits for its answer, a whole response with the server's id.
func (s *clientConn) askClient(ctx context.Context, q serverRequest) []byte {
	if q.server != "" {
		s.log.InfoContext(ctx, "server asks the client", "server", q.server, "method", q.req.Method)
	}
	ctx, cancel := context.WithTimeout(ctx, s.opt.AnswerTime)
	defer cancel()
	waiting := s.pending.add(q)
	defer s.pending.drop(waiting)
	id := wire.NumberID(waiting.number)
	rewrite := wire.Rewrite{ID: id, ProgressToken: id}
	if q.marked {
		rewrite.Meta = serverMark(q.server)
	}
	if !q.send(q.req.AppendRewritten(nil, rewrite)) {
		return wire.NewError(wire.CodeInternal, "the client cannot be reached").AppendResponse(nil, q.req.ID)
	}
	look := time.NewTicker(s.opt.ParkTime / looks)
	defer look.Stop()
	for absent := 0; absent < looks; {
		select {
		case answer := <-waiting.answer:
			return answer
		case <-s.quiet:
			absent = looks
		case <-ctx.Done():
			q.send(cancelNotice(waiting.number))
			return wire.NewError(wire.CodeInternal, "the client did not answer").AppendResponse(nil, q.req.ID)
		case <-look.C:
			absent++
			if q.heard == nil || q.heard() {
				absent = 0
			}
		}
	}
	return wire.NewError(wire.CodeInternal, "the client has gone").AppendResponse(nil, q.req.ID)
}

// looks is how often, in the time that a client may be away, it is seen whether it is.
const looks = 4

// serverMark is the member of _meta that tells a client which server a message is from.
func serverMark(server string) []byte {
	return rawjson.AppendQuoted([]byte(`"secateur/server":`), server)
}

func cancelNotice(number int64) []byte {
	params := rawjson.Object{'{'}
	params.Int("requestId", number)
	params.Text("reason", "no longer wanted")
	return wire.NewNotification("notifications/cancelled", append(params, '}')).Raw
}
