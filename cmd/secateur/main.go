// Command secateur stands between a coding agent, its MCP servers and its model provider, and cuts what fills the
// context window, recoverably.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	code := run(ctx, os.Args[1:], system())
	stop()
	os.Exit(code)
}
