package chat

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// minShare is how many characters are worth a goroutine.
const minShare = 32 << 10

// each does something with every one of these results, on as many processors as there are and their texts are worth. What it
// notes it notes by the message.
func (p *Plan) each(messages []int, do func(message int)) {
	if len(messages) == 0 {
		return
	}
	if p.decoded == nil {
		p.decoded = make([]string, len(p.c.Messages))
	}
	if p.short == nil {
		p.short = make([]int, len(p.c.Messages))
	}
	chars := 0
	for _, i := range messages {
		chars += p.c.Messages[i].Chars
	}
	spread(min(runtime.GOMAXPROCS(0), chars/minShare, len(messages)), len(messages), func(i int) { do(messages[i]) })
}

// spread calls do for 0 up to n, by so many goroutines. One that panics has the caller panic.
func spread(goroutines, n int, do func(i int)) {
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			do(i)
		}
	}
	var others sync.WaitGroup
	var failed atomic.Pointer[any]
	for range goroutines - 1 {
		others.Go(func() {
			defer func() {
				if v := recover(); v != nil {
					failed.Store(&v)
				}
			}()
			work()
		})
	}
	func() {
		defer others.Wait() // they note by the message: nobody may read it before they are done
		work()
	}()
	if v := failed.Load(); v != nil {
		panic(*v)
	}
}
