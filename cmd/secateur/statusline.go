package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"secateur/internal/llm/hook"
)

func newStatusLine(w world) *cobra.Command {
	return &cobra.Command{
		Use:   "status-line",
		Short: "Print one line for the status line of Claude Code",
		Long: `status-line reads what Claude Code tells its status line on standard input and prints one line: what the hook
has saved in this session (estimated tokens), the share of prompts that came from the provider's
cache, and how much of the context is left. In ~/.claude/settings.json:

  "statusLine": {"type": "command", "command": "secateur status-line"}`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			in, err := io.ReadAll(io.LimitReader(w.in, 1<<20))
			if err != nil {
				return err
			}
			fmt.Fprintln(w.out, w.statusLine(in))
			return nil
		},
	}
}

// statusLine is the line for a status. What is not known is left out.
func (w world) statusLine(status []byte) string {
	var s struct {
		Session    string `json:"session_id"`
		Transcript string `json:"transcript_path"`
		Context    struct {
			Left *float64 `json:"remaining_percentage"`
		} `json:"context_window"`
	}
	_ = json.Unmarshal(status, &s) // a line in a form that is not known says less
	var parts []string
	if w.stateDir != "" && s.Session != "" {
		if cuts, tokens, err := hook.Saved(w.stateDir, s.Session); err == nil && cuts > 0 {
			parts = append(parts, fmt.Sprintf("saved ~%s tokens in %s", thousands(tokens), plural(cuts, "result")))
		} else if err == nil {
			parts = append(parts, "nothing cut yet")
		}
	}
	if u, err := hook.ReadUsage(s.Transcript); err == nil && u.Prompt > 0 {
		parts = append(parts, fmt.Sprintf("cache %.0f%%", 100*u.CacheShare()))
	}
	if s.Context.Left != nil {
		parts = append(parts, fmt.Sprintf("context %.0f%% left", *s.Context.Left))
	}
	return "secateur: " + strings.Join(parts, " · ")
}

// thousands writes a number of tokens short.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%.1fk", float64(n)/1000)
}
