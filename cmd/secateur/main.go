// Command secateur stands between a coding agent, its MCP servers and its model provider, and cuts what fills the
// context window, recoverably.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	guardMemory()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ctx, stop := context.WithCancel(context.Background())
	kill := make(chan struct{})
	go obey(signals, stop, kill)
	w := system()
	w.kill = kill
	w.hangups = func() <-chan os.Signal {
		hangups := make(chan os.Signal, 1)
		signal.Notify(hangups, syscall.SIGHUP)
		return hangups
	}
	os.Exit(run(ctx, os.Args[1:], w))
}

// killTime is how long ending everything by force may take.
const killTime = 10 * time.Second

// obey asks the program to stop at the first signal and has it kill its servers at the second. At a third, or where that
// takes too long, it is over at once.
func obey(signals <-chan os.Signal, stop context.CancelFunc, kill chan<- struct{}) {
	<-signals
	stop()
	<-signals
	close(kill)
	select {
	case <-signals:
	case <-time.After(killTime):
	}
	os.Exit(1)
}
