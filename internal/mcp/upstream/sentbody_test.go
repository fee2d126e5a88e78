package upstream

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
)

// A small request reaches the server in one write. Separate headers would cost an extra system call
// on both sides.
func TestASmallRequestIsSentInOneWrite(t *testing.T) {
	ours, theirs := net.Pipe() // each write is one read
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return ours, nil }}
	defer transport.CloseIdleConnections()
	body := &sentBody{data: []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://server/", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.GetBody, req.ContentLength = body.source(), int64(len(body.data))
	req.Body, _ = req.GetBody()
	read := make(chan string, 1)
	go func() {
		buf := make([]byte, 64<<10)
		n, _ := theirs.Read(buf)
		read <- string(buf[:n])
		_ = theirs.Close()
	}()
	if res, err := transport.RoundTrip(req); err == nil {
		_ = res.Body.Close()
	}
	if got := <-read; !strings.HasSuffix(got, string(body.data)) {
		t.Errorf("the first write is %q, want the whole request", got)
	}
}
