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

// webSocket is the one protocol that a connection may go over to. Behind any other, h2c above all, requests could follow
// that nobody has looked at.
const webSocket = "websocket"

// wantsWebSocket tells whether a client asks to speak WebSocket from here on (RFC 6455, section 4.1).
func wantsWebSocket(r *http.Request) bool {
	return r.Method == http.MethodGet && r.ContentLength == 0 && r.ProtoMajor == 1 && isWebSocket(r.Header)
}

// isWebSocket tells whether these headers ask for WebSocket, or agree to it.
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

// takeTime is how long a client may take nothing of what is sent to it.
const takeTime = 30 * time.Second

// impatient is a connection whose reader must read.
type impatient struct{ net.Conn }

func (c impatient) Write(p []byte) (int, error) {
	_ = c.SetWriteDeadline(time.Now().Add(takeTime))
	return c.Conn.Write(p)
}

// join lets the client and the provider talk once the provider has agreed to another protocol, until one of them
// has had enough.
func (p *Proxy) join(ctx context.Context, w http.ResponseWriter, res *http.Response) outcome {
	theirs, ok := res.Body.(io.ReadWriteCloser)
	if !ok {
		panic(http.ErrAbortHandler) // the answer makes no sense, and there is no other
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
		_, _ = io.Copy(theirs, buffered) // what the client has sent already is in there
	})
	both.Go(func() {
		defer once.Do(end)
		_, _ = io.Copy(impatient{ours}, theirs)
	})
	both.Wait()
	return answered
}
