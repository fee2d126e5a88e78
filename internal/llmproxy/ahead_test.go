package llmproxy_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"secateur/internal/llmproxy"
	"secateur/internal/records"
)

// noticed tells when the record of a request is first written down.
type noticed struct {
	records.Memory

	once    sync.Once
	written chan struct{}
}

func (n *noticed) Put(ctx context.Context, key string, value []byte) error {
	err := n.Memory.Put(ctx, key, value)
	if strings.HasPrefix(key, "record/") {
		n.once.Do(func() { close(n.written) })
	}
	return err
}

func (n *noticed) isWritten() bool {
	select {
	case <-n.written:
		return true
	default:
		return false
	}
}

func TestARequestIsWrittenDownBeforeAProviderHasAllOfIt(t *testing.T) {
	for _, tt := range []struct {
		rule  string
		turns int
		text  func(turn int) string
		cut   bool
	}{
		{"that is cut", 1, partOf, true},
		{"that goes out whole", 1, func(int) string { return "short" }, false},
		{"that goes out whole, and takes a while to measure", 30, func(int) string { return strings.Repeat("word ", 700) }, false},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			n := &noticed{written: make(chan struct{})}
			p := anthropicProvider(t)
			answer := p.answer
			p.answer = func(w http.ResponseWriter, r *http.Request) { // when the request was read
				if !n.isWritten() {
					t.Error("the provider has the request, and nothing is written down")
				}
				answer(w, r)
			}
			px := newProxy(t, func(o *llmproxy.Options) { pruningOn(o); o.Records = n }, anthropicOnly(p))
			for turns := tt.turns; turns < tt.turns+3; turns++ {
				body := claudeTalk(turns, true, tt.text)
				px.do(t, http.MethodPost, "/v1/messages", body)
				if sent := string(p.last(t).body); (sent != body) != tt.cut {
					t.Errorf("cut = %v", sent != body)
				}
				px.running.Wait()
				n.once, n.written = sync.Once{}, make(chan struct{})
			}
		})
	}
}
