package llmproxy

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
)

func TestABufferGoesBackToWhereItIsLookedFor(t *testing.T) {
	for size := 1; size <= maxPooled; size += 1 + size/7 {
		if b := grab(size); poolFor(cap(b.bytes)) != poolFor(roomFor(size)) || cap(b.bytes) < size {
			t.Errorf("a buffer of %d bytes for %d is never found again", cap(b.bytes), size)
		}
	}
}

func TestTheEndOfABodyIsHeldBackUntilItIsReady(t *testing.T) {
	for name, send := range map[string]func(w io.Writer, r *bufferReader){
		"read":    func(w io.Writer, r *bufferReader) { _, _ = io.Copy(w, struct{ io.Reader }{r}) },
		"written": func(w io.Writer, r *bufferReader) { _, _ = r.writeTo(w, 1<<20) },
	} {
		for _, size := range []int{1, lastBytes, 10 * lastBytes} {
			t.Run(fmt.Sprint(name, " ", size), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					body := grab(size)
					defer body.release()
					body.bytes = append(body.bytes, strings.Repeat("x", size)...)
					ready := make(chan struct{})
					r, _ := body.reader(ready).(*bufferReader)
					var got bytes.Buffer
					go send(&got, r)
					synctest.Wait()
					if want := max(0, size-lastBytes); got.Len() != want {
						t.Errorf("%d bytes went out before it was ready, want %d", got.Len(), want)
					}
					close(ready)
					synctest.Wait()
					if got.Len() != size {
						t.Errorf("%d bytes went out", got.Len())
					}
					_ = r.Close()
				})
			})
		}
	}
}
