package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"secateur/internal/ops/events"
)

// logFlags are how 'logs' was asked.
type logFlags struct {
	daemonFlags
	follow bool
	lines  int
	server string
}

func newLogs(w world) *cobra.Command {
	var flags logFlags
	cmd := &cobra.Command{
		Use:   "logs",
		Short: "Show the log of the running program",
		Long: `logs shows the newest lines of the log of the running program and of what its servers write to
standard error (level STDERR); with -f, further ones as they come. About two thousand events are
remembered, requests and others included.` + daemonHelp,
		Example: `  secateur logs
  secateur logs -n 20 --server demo
  secateur logs --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if flags.lines < 0 {
				return usage("-n wants a number of lines, not %d", flags.lines)
			}
			c, err := w.reach(cmd.Context(), flags.daemonFlags)
			if err != nil {
				return err
			}
			return w.showLogs(cmd.Context(), c, flags)
		},
	}
	flags.register(cmd)
	cmd.Flags().BoolVarP(&flags.follow, "follow", "f", false, "show further lines as they come")
	cmd.Flags().IntVarP(&flags.lines, "lines", "n", 100, "how many of the lines there are")
	cmd.Flags().StringVar(&flags.server, "server", "", "only what is about the server with this `id`")
	_ = cmd.RegisterFlagCompletionFunc("server", w.completeServers)
	return cmd
}

// showLogs prints the lines there are, and then, if it is to follow, those that come. A program that went away ends it.
func (w world) showLogs(ctx context.Context, c *controlClient, f logFlags) error {
	var newest []events.Log
	last := events.FromStart
	err := c.logLines(ctx, last, false, func(id string, l events.Log) error {
		last = id
		if f.server == "" || l.Server == f.server {
			if newest = append(newest, l); len(newest) > f.lines {
				newest = newest[1:]
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, l := range newest {
		if err := w.printLog(l, f.asJSON); err != nil {
			return err
		}
	}
	if !f.follow {
		return nil
	}
	err = c.logLines(ctx, last, true, func(_ string, l events.Log) error {
		if f.server != "" && l.Server != f.server {
			return nil
		}
		return w.printLog(l, f.asJSON)
	})
	if ctx.Err() != nil {
		return nil //nolint:nilerr // whoever looked has seen enough
	}
	return err
}

// logLines hands over the log's lines behind an event.
func (c *controlClient) logLines(ctx context.Context, after string, follow bool, line func(id string, l events.Log) error) error {
	path := fmt.Sprintf("/events?types=log&follow=%v", follow)
	res, err := c.send(ctx, http.MethodGet, path, nil, http.Header{"Last-Event-Id": {after}})
	if err != nil {
		return exitError{exitUnreachable, fmt.Errorf("%s: %w", c.name, plainCause(err))}
	}
	defer res.Body.Close()
	if res.StatusCode >= http.StatusBadRequest {
		body, _ := io.ReadAll(res.Body)
		return c.refused(res.StatusCode, body)
	}
	return readEvents(res.Body, func(e sentEvent) error {
		if e.name != string(events.TypeLog) {
			return nil
		}
		var l events.Log
		if err := json.Unmarshal([]byte(e.data), &l); err != nil {
			return err
		}
		return line(e.id, l)
	})
}

// sentEvent is one of a stream of server-sent events.
type sentEvent struct{ id, name, data string }

// readEvents reads events until their stream ends.
func readEvents(r io.Reader, take func(sentEvent) error) error {
	in := bufio.NewReader(r)
	var e sentEvent
	for {
		line, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "id":
			e.id = value
		case "event":
			e.name = value
		case "data":
			e.data = value
		case "":
			if value == "" && e.name != "" {
				if err := take(e); err != nil {
					return err
				}
			}
			e = sentEvent{}
		}
	}
}

func (w world) printLog(l events.Log, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w.out).Encode(struct {
			At     time.Time `json:"at"`
			Server string    `json:"server"`
			Level  string    `json:"level"`
			Text   string    `json:"text"`
		}{l.At, l.Server, l.Level, l.Text})
	}
	server := l.Server
	if server != "" {
		server += "  "
	}
	_, err := fmt.Fprintf(w.out, "%s  %-6s  %s%s\n", l.At.Local().Format("15:04:05.000"), l.Level, server, oneLine(l.Text))
	return err
}
