package llmproxy

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
)

// upgradeOf is the protocol that a client wants to go over to, WebSocket mostly; "": none.
func upgradeOf(h http.Header) string {
	for _, line := range h["Connection"] {
		for word := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(word), "upgrade") {
				return h.Get("Upgrade")
			}
		}
	}
	return ""
}

// join lets the client and the provider talk once the provider has agreed to another protocol, until one of them
// has had enough.
func (p *Proxy) join(ctx context.Context, w http.ResponseWriter, res *http.Response) outcome {
	theirs, ok := res.Body.(io.ReadWriteCloser)
	if !ok || upgradeOf(res.Header) == "" {
		panic(http.ErrAbortHandler) // the answer makes no sense, and there is no other
	}
	ours, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		p.opt.Log.ErrorContext(ctx, "connection cannot change its protocol", "err", err)
		panic(http.ErrAbortHandler)
	}
	h := make(http.Header)
	copyHeaders(h, res.Header)
	h["Connection"], h["Upgrade"] = []string{"Upgrade"}, res.Header["Upgrade"]
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
		_, _ = io.Copy(ours, theirs)
	})
	both.Wait()
	return answered
}
