package main

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

const (
	progressQuiet = 300 * time.Millisecond // most things are done by then
	progressStep  = 100 * time.Millisecond
	progressWidth = 20
)

// progress shows on a terminal that something takes its time, until the returned function is called. Elsewhere it says nothing.
func (w world) progress(what string) (done func()) {
	return w.progressOf(func() (string, float64) { return what, -1 })
}

// progressOf is progress with how much of it is done, from 0 to 1; less than 0: that is not known.
func (w world) progressOf(state func() (what string, part float64)) (done func()) {
	if !w.errTerminal {
		return func() {}
	}
	stop := make(chan struct{})
	var showing sync.WaitGroup
	showing.Go(func() {
		wait := time.NewTimer(progressQuiet)
		defer wait.Stop()
		for n := 0; ; n++ {
			select {
			case <-stop:
				if n > 0 {
					fmt.Fprint(exact(w.err), "\r\x1b[K")
				}
				return
			case <-wait.C:
			}
			what, part := state()
			fmt.Fprintf(exact(w.err), "\r\x1b[K%s %s", bar(part, n), visible(what))
			wait.Reset(progressStep)
		}
	})
	return func() {
		close(stop)
		showing.Wait()
	}
}

// bar draws how much is done; where that is not known, something that moves.
func bar(part float64, n int) string {
	if part < 0 {
		at := n % (progressWidth - 2)
		return "[" + strings.Repeat(" ", at) + "===" + strings.Repeat(" ", progressWidth-3-at) + "]"
	}
	filled := min(int(part*progressWidth), progressWidth)
	return "[" + strings.Repeat("=", filled) + strings.Repeat(" ", progressWidth-filled) + "]"
}
