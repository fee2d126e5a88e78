package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"strings"
	"sync"
)

// doorsOfTalks maps the paths of conversations to the names of their message lists.
var doorsOfTalks = map[string]string{"/v1/chat/completions": "messages", "/v1/messages": "messages", "/v1/responses": "input"}

// crowds are compressed conversations of many short messages, by path: far too many, and as many as
// allowed.
var crowds = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for path, list := range doorsOfTalks {
		for _, n := range []int{700_000, 65_000} {
			var packed bytes.Buffer
			z := gzip.NewWriter(&packed)
			_, _ = io.WriteString(z, `{"model":"m","max_tokens":1,"`+list+`":[`+strings.TrimSuffix(strings.Repeat(`{"role":"user","content":"a"},`, n), ",")+`]}`)
			_ = z.Close()
			all[path] = append(all[path], packed.String())
		}
	}
	return all
})

// crowd sends conversations whose messages take many times the memory of their bytes, a dozen at
// once.
func (t *target) crowd(ctx context.Context) {
	var all sync.WaitGroup
	for path, bodies := range crowds() {
		for i := range 4 {
			all.Go(func() {
				if res, err := t.post(ctx, path, bodies[i%len(bodies)], map[string]string{"Content-Encoding": "gzip"}); err == nil {
					_, _ = io.Copy(io.Discard, res.Body)
					_ = res.Body.Close()
				}
			})
		}
	}
	all.Wait()
}
