package main

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// interrupts end the program on SIGINT and SIGTERM.
type interrupts struct {
	signals chan os.Signal
	stop    context.CancelFunc
	kill    chan struct{} // closed when servers are to be killed

	runsServers atomic.Bool  // servers of this command have to end first
	first       atomic.Int64 // the first signal; 0: none
}

const (
	commandTime = time.Second      // for a command to end by itself: it may wait for standard input, which nothing interrupts
	killTime    = 10 * time.Second // for ending everything by force
)

// newInterrupts begins to take signals. The first ends the context.
func newInterrupts() (context.Context, *interrupts) {
	ctx, stop := context.WithCancel(context.Background())
	i := &interrupts{signals: make(chan os.Signal, 2), stop: stop, kill: make(chan struct{})}
	signal.Notify(i.signals, os.Interrupt, syscall.SIGTERM)
	go i.obey()
	return ctx, i
}

// obey asks the program to stop at the first signal. A command without servers is over a moment later. One with servers
// kills them at the second signal, and is over at the third, or where that takes too long.
func (i *interrupts) obey() {
	if s, ok := (<-i.signals).(syscall.Signal); ok {
		i.first.Store(int64(s))
	}
	i.stop()
	var patience <-chan time.Time
	if !i.runsServers.Load() {
		patience = time.After(commandTime)
	}
	select {
	case <-i.signals:
	case <-patience:
	}
	if !i.runsServers.Load() {
		os.Exit(i.status(exitFailure))
	}
	close(i.kill)
	select {
	case <-i.signals:
	case <-time.After(killTime):
	}
	os.Exit(exitFailure)
}

// status is the exit code of a command: that of the signal which interrupted it, as a shell has it.
func (i *interrupts) status(code int) int {
	if s := i.first.Load(); s != 0 && code != 0 && !i.runsServers.Load() {
		return 128 + int(s)
	}
	return code
}
