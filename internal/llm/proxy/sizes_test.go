package proxy_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"secateur/internal/llm/proxy"
)

// Sizes are computed on demand, from messages that requests with the same beginning share. While
// one request is answered, others continue from it, go back behind it, and ask for its likely cost.
func TestSizesAreMadeUpByManyAtOnce(t *testing.T) {
	const hold = `"hold":true`
	release := make(chan struct{})
	p := newProvider(t, func(w http.ResponseWriter, r *http.Request) {
		body := make([]byte, 64)
		n, _ := r.Body.Read(body)
		if strings.Contains(string(body[:n]), hold) {
			<-release
		}
		jsonAnswer(smallAnswer)(w, r)
	})
	px := newProxy(t, func(o *proxy.Options) { o.Masking, o.Pruning = masking("priced"), pruning() }, one(p))
	k := newTalk()
	var bodies []string
	for i := range 12 {
		k.turn("read_file", "{}", result(i, 40))
		bodies = append(bodies, k.request("m"))
	}
	held := func(i int) string { return strings.Replace(bodies[i], "{", "{"+hold+",", 1) }
	var first, rest sync.WaitGroup
	post := func(all *sync.WaitGroup, body string) {
		all.Go(func() {
			if got := px.post(t, body); got.status != http.StatusOK {
				t.Errorf("answer = %+v", got)
			}
		})
	}
	post(&first, held(8))
	post(&first, held(9))
	for i := range bodies {
		post(&rest, bodies[i])
		post(&rest, bodies[i])
	}
	rest.Wait()
	close(release)
	first.Wait()
}
