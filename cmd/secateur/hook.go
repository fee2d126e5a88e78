package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"secateur/internal/app"
	"secateur/internal/llm/hook"
	"secateur/internal/store/history"
	"secateur/internal/store/originals"
	"secateur/internal/store/redisdb"
)

func newHook(w world) *cobra.Command {
	return &cobra.Command{
		Use:   "hook claude-code [--config FILE]",
		Short: "Answer an event of an agent's hook: prune what its tool has said",
		Long: `hook reads one event of Claude Code's hooks on standard input. For PostToolUse it prints the tool's
response with its longest text pruned for what the agent is after; where nothing is to be cut it
prints nothing. 'secateur connect claude-code --hook' sets it up. Originals are kept, and
'secateur recover' gives them back.

A running 'secateur serve' of this user is asked; without one the command does the work itself, with the
same store. The exit status is always 0: whatever goes wrong is a line in hook.log of the state
directory, and the agent goes on with the whole result.`,
		Example:            `  secateur hook claude-code < event.json`,
		Args:               cobra.ArbitraryArgs,
		DisableFlagParsing: true, // a mistake in them must not end a session
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || slices.Contains(args, "--help") || slices.Contains(args, "-h") {
				return cmd.Help()
			}
			w.answerHook(cmd.Context(), args)
			return nil
		},
	}
}

// answerHook answers the event on standard input, and logs what goes wrong.
func (w world) answerHook(ctx context.Context, args []string) {
	defer func() {
		if p := recover(); p != nil {
			w.logHook(fmt.Errorf("panic: %v", p))
		}
	}()
	debug.SetGCPercent(hookGC)
	answer, err := w.hookAnswer(ctx, args)
	if err != nil {
		w.logHook(err)
	}
	if len(answer) > 0 {
		_, _ = exact(w.out).Write(answer)
	}
}

// hookGC lets the heap grow before it is collected: the command ends in some milliseconds.
const hookGC = 800

// maxEvent bounds an event.
const maxEvent = 64 << 20

func (w world) hookAnswer(ctx context.Context, args []string) ([]byte, error) {
	client, file, err := hookArgs(args)
	if err != nil {
		return nil, err
	}
	if client != "claude-code" {
		return nil, fmt.Errorf("there is no hook for %q; there is claude-code", client)
	}
	event, err := io.ReadAll(io.LimitReader(w.in, maxEvent+1))
	if err != nil || len(event) > maxEvent {
		return nil, errors.Join(err, fmt.Errorf("the event has more than %d bytes, or was not read", maxEvent))
	}
	if w.stateDir == "" {
		return nil, nil // there is nothing to keep an original in, and nowhere to say so
	}
	if answer, asked := w.askHookDaemon(ctx, event); asked {
		return answer, nil
	}
	return w.ownHookAnswer(ctx, file, event)
}

// hookArgs reads the arguments of 'secateur hook'.
func hookArgs(args []string) (client, file string, err error) {
	for i := 0; i < len(args); i++ {
		value, isConfig := strings.CutPrefix(args[i], "--config=")
		switch {
		case isConfig:
			file = value
		case (args[i] == "--config" || args[i] == "-c") && i+1 < len(args):
			i++
			file = args[i]
		case strings.HasPrefix(args[i], "-") || client != "":
			return "", "", fmt.Errorf("secateur hook takes no argument %q", args[i])
		default:
			client = args[i]
		}
	}
	return client, file, nil
}

// How long a daemon may take to accept a connection, and to answer. A result that takes longer is pruned here, or passes whole: it was noted
// as cut.
const (
	hookConnectTime = 50 * time.Millisecond
	hookAnswerTime  = 6 * time.Second
)

// askHookDaemon asks a running daemon of this user, the one that was started last first. It is not asked where none runs.
func (w world) askHookDaemon(ctx context.Context, event []byte) (answer []byte, asked bool) {
	for _, socket := range newestFirst(filepath.Join(hook.SocketDir(w.stateDir), "*.sock")) {
		client := newClient(func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{Timeout: hookConnectTime}).DialContext(ctx, "unix", socket)
		}, nil)
		client.Timeout = hookAnswerTime
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost"+hook.Path, bytes.NewReader(event))
		if err != nil {
			return nil, false
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := client.Do(req)
		if err != nil {
			continue
		}
		answer, err = io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err == nil && (res.StatusCode == http.StatusOK || res.StatusCode == http.StatusNoContent) {
			return answer, true
		}
	}
	return nil, false
}

// ownHookAnswer answers an event with the store of the configuration.
func (w world) ownHookAnswer(ctx context.Context, file string, event []byte) ([]byte, error) {
	l, err := w.load(file, "", usersOwn)
	if err != nil {
		return nil, err
	}
	if len(l.mistakes) > 0 {
		return nil, fmt.Errorf("the configuration has mistakes; 'secateur check' lists them: %s", l.mistakes[0])
	}
	opt := originals.Options{Settings: l.Store, Base: l.Dir(), Home: w.home, NoSweep: true}
	if opt.URL == "" {
		opt.URL = "file:" + filepath.Join(w.stateDir, "store")
	}
	switch {
	case redisdb.IsURL(opt.URL):
		db, err := redisdb.Open(ctx, redisdb.Options{URL: opt.URL})
		if err != nil {
			return nil, err
		}
		defer db.Close()
		opt.Redis = db
	case !strings.HasPrefix(opt.URL, "file:"):
		return nil, nil // it ends with this command
	}
	store, err := originals.Open(opt) //nolint:contextcheck // what it logs belongs to no call
	if err != nil {
		return nil, err
	}
	defer store.Close()
	h, err := hook.New(hook.Options{
		Settings: l.Hooks, Originals: store, StateDir: w.stateDir, RecoverCommand: app.RecoverCommand(l.Path, ""),
		Observe: func(_ context.Context, c hook.Cut) {
			cut := history.Cut{Feature: history.FeatureHook, Tool: hook.ToolLabel(c.Tool), Tokens: int64(c.Tokens)}
			if err := history.Journal(filepath.Join(w.stateDir, "history"), time.Now(), cut); err != nil {
				w.logHook(err)
			}
		},
	})
	if err != nil {
		return nil, err
	}
	return h.Answer(ctx, hook.Caller{Local: true}, event)
}

// maxHookLog is how long hook.log gets before it begins again.
const maxHookLog = 1 << 20

// logHook writes a line to hook.log. A log that cannot be written is not written.
func (w world) logHook(err error) {
	if w.stateDir == "" {
		return
	}
	path := filepath.Join(w.stateDir, "hook.log")
	flags := os.O_APPEND | os.O_CREATE | os.O_WRONLY
	if info, err := os.Stat(path); err == nil && info.Size() > maxHookLog {
		flags |= os.O_TRUNC
	}
	_ = os.MkdirAll(w.stateDir, 0o700)
	f, open := os.OpenFile(path, flags, 0o600)
	if open != nil {
		return
	}
	defer f.Close()
	fmt.Fprintf(f, "%s %s\n", time.Now().UTC().Format(time.RFC3339), strings.ReplaceAll(err.Error(), "\n", "; "))
}
