// Command secateur stands between a coding agent, its MCP servers and its model provider, and cuts what fills the
// context window, recoverably.
package main

import (
	"os"
	"os/signal"
	"syscall"

	"secateur/internal/mcp/confine"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == confine.Word {
		os.Exit(confine.Main(os.Args[2:]))
	}
	guardMemory()
	ctx, i := newInterrupts()
	w := system()
	w.kill, w.runsServers = i.kill, func() { i.runsServers.Store(true) }
	w.hangups = func() <-chan os.Signal {
		hangups := make(chan os.Signal, 1)
		signal.Notify(hangups, syscall.SIGHUP)
		return hangups
	}
	os.Exit(i.status(run(ctx, os.Args[1:], w)))
}
