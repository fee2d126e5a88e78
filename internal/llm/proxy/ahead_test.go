package proxy_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"secateur/internal/llm/chat"
	"secateur/internal/llm/proxy"
	"secateur/internal/store/records"
)

// noticed signals when the record of a request is first written.
type noticed struct {
	records.Memory

	once    sync.Once
	written chan struct{}
	counted func(spent float64) // called with the amount spent in each record; nil: none
}

func (n *noticed) Put(ctx context.Context, key string, value []byte) error {
	err := n.Memory.Put(ctx, key, value)
	if strings.HasPrefix(key, "record/") {
		n.once.Do(func() { close(n.written) })
		var r chat.Record
		if n.counted != nil && r.UnmarshalBinary(value) == nil {
			n.counted(r.Bill.Spent)
		}
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
			p.answer = func(w http.ResponseWriter, r *http.Request) { // after the request was read
				if !n.isWritten() {
					t.Error("the provider has the request, and nothing is written down")
				}
				answer(w, r)
			}
			px := newProxy(t, func(o *proxy.Options) { pruningOn(o); o.Records = n }, anthropicOnly(p))
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

// For a request that takes long to measure, only its form is recorded before it is sent. Its cost
// is recorded while the provider works.
func TestWhatARequestCostsIsWrittenDownBeforeItsAnswer(t *testing.T) {
	spent := make(chan float64, 16)
	n := &noticed{written: make(chan struct{}), counted: func(s float64) { spent <- s }}
	p := anthropicProvider(t)
	answer := p.answer
	var before []float64
	p.answer = func(w http.ResponseWriter, r *http.Request) {
		for patience := time.After(time.Minute); len(before) == 0 || before[len(before)-1] == 0; {
			select {
			case s := <-spent:
				before = append(before, s)
			case <-patience:
				t.Error("the provider has thought for a minute, and nothing is written down of what it costs")
				answer(w, r)
				return
			}
		}
		answer(w, r)
	}
	px := newProxy(t, func(o *proxy.Options) { pruningOn(o); o.Records = n }, anthropicOnly(p))
	px.do(t, http.MethodPost, "/v1/messages", claudeTalk(30, true, func(int) string { return strings.Repeat("word ", 700) }))
	px.running.Wait()
	if len(before) != 2 || before[0] != 0 {
		t.Errorf("before the answer records said that %v was spent", before)
	}
}
