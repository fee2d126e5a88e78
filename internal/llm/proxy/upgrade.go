package proxy

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// webSocket is the only protocol to which a connection may switch. Others, above all h2c, could
// carry further requests that we would not check.
const webSocket = "websocket"

// wantsWebSocket reports whether a client requests an upgrade to WebSocket (RFC 6455, section 4.1).
func wantsWebSocket(r *http.Request) bool {
	return r.Method == http.MethodGet && r.ContentLength == 0 && r.ProtoMajor == 1 && isWebSocket(r.Header)
}

// isWebSocket reports whether these headers request WebSocket or agree to it.
func isWebSocket(h http.Header) bool {
	if !strings.EqualFold(strings.Join(h["Upgrade"], ","), webSocket) {
		return false
	}
	for _, line := range h["Connection"] {
		for word := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(word), "upgrade") {
				return true
			}
		}
	}
	return false
}

// takeTime is how long a client may read nothing.
const takeTime = 30 * time.Second

// impatient is a connection with a write deadline.
type impatient struct{ net.Conn }

func (c impatient) Write(p []byte) (int, error) {
	_ = c.SetWriteDeadline(time.Now().Add(takeTime))
	return c.Conn.Write(p)
}

// join connects the client and the provider after the provider has agreed to another protocol,
// until one of them closes.
func (p *Proxy) join(ctx context.Context, w http.ResponseWriter, res *http.Response) outcome {
	theirs, ok := res.Body.(io.ReadWriteCloser)
	if !ok {
		panic(http.ErrAbortHandler) // the response is invalid, and no other can follow
	}
	ours, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		p.opt.Log.ErrorContext(ctx, "connection cannot change its protocol", "err", err)
		panic(http.ErrAbortHandler)
	}
	h := make(http.Header)
	copyAnswerHeaders(h, res.Header)
	h["Connection"], h["Upgrade"] = []string{"Upgrade"}, []string{webSocket}
	agreed := &http.Response{StatusCode: res.StatusCode, ProtoMajor: 1, ProtoMinor: 1, Header: h}
	if agreed.Write(buffered) != nil || buffered.Flush() != nil {
		_ = ours.Close()
		return clientGone
	}
	var once sync.Once
	end := func() { _ = ours.Close(); _ = theirs.Close() }
	stop := context.AfterFunc(ctx, func() { once.Do(end) })
	defer stop()
	var both sync.WaitGroup
	both.Go(func() {
		defer once.Do(end)
		_, _ = io.Copy(theirs, buffered) // includes what the client has sent already
	})
	both.Go(func() {
		defer once.Do(end)
		_, _ = io.Copy(impatient{ours}, theirs)
	})
	both.Wait()
	return answered
}
