package proxy_test

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"sync/atomic"
	"testing"

	"secateur/internal/llm/chat"
	"secateur/internal/llm/proxy"
	"secateur/internal/store/records"
)

// watched are records that count reads and block writes until allowed.
type watched struct {
	records.Memory

	asked, wrote atomic.Int32
	spent        atomic.Uint64 // of the last record, as the bits of a float64
	may          chan struct{} // closed: writes are allowed; nil: always
}

func (w *watched) Get(ctx context.Context, key string) ([]byte, bool, error) {
	w.asked.Add(1)
	return w.Memory.Get(ctx, key)
}

func (w *watched) Put(ctx context.Context, key string, value []byte) error {
	w.wrote.Add(1)
	if r := (chat.Record{}); r.UnmarshalBinary(value) == nil {
		w.spent.Store(math.Float64bits(r.Bill.Spent))
	}
	if w.may != nil {
		<-w.may
	}
	return w.Memory.Put(ctx, key, value)
}

// streaming answers with a stream that reports that many tokens.
func streaming(tokens int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":%d}}\n\ndata: [DONE]\n\n", tokens)
		w.(http.Flusher).Flush()
	}
}

func TestTheEndOfAStreamDoesNotWaitForTheBooks(t *testing.T) {
	kept := &watched{may: make(chan struct{})}
	p := newProvider(t, streaming(3000))
	px := newProxy(t, func(o *proxy.Options) { o.Records, o.Masking = kept, masking("sliding") }, one(p))
	body := `{"model":"m","stream":true,"messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"short"}]}`
	// complete, while nothing can be written.
	if got := px.post(t, body); got.err != nil || got.status != http.StatusOK {
		t.Errorf("%+v", got)
	}
	close(kept.may)
	px.running.Wait()
	if kept.wrote.Load() == 0 {
		t.Error("the account is lost")
	}
}
