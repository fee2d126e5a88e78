package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"secateur/internal/access/pins"
)

func newPins(w world) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "pins",
		Short: "Show the pinned definitions of servers, and what is new or has changed",
		Long: `pins shows what is pinned of servers: their tools, prompts, resources and instructions, as they
were when a server was first seen. What has changed since, or was not there, is shown with its
difference; with pins.mode = "strict" it is held back until it is approved of. Definitions that
look as if they were meant to deceive are named: invisible_characters, ansi, instructions, markup,
look_alike.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			all, err := pins.List(w.pinsDir())
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(w.out).Encode(struct {
					Pins []pins.Pin `json:"pins"`
				}{all})
			}
			fmt.Fprint(w.out, pinsText(all))
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(newPinsApprove(w), newPinsRevoke(w))
	return cmd
}

func newPinsApprove(w world) *cobra.Command {
	return &cobra.Command{
		Use:   "approve SERVER[::NAME]",
		Short: "Pin what a server has now, or one thing of it: a tool by its name, others as prompt:NAME",
		Args:  cobra.ExactArgs(1),

		ValidArgsFunction: w.completeServers,
		RunE: func(_ *cobra.Command, args []string) error {
			server, tool, _ := strings.Cut(args[0], "::")
			approved, err := pins.Approve(w.pinsDir(), server, tool)
			if err != nil {
				return err
			}
			if len(approved) == 0 {
				fmt.Fprintf(w.out, "nothing of %s is new or has changed\n", args[0])
				return nil
			}
			for _, name := range approved {
				fmt.Fprintf(w.out, "pinned %s::%s as it is now\n", server, name)
			}
			return nil
		},
	}
}

func newPinsRevoke(w world) *cobra.Command {
	return &cobra.Command{
		Use:   "revoke SERVER[::NAME]",
		Short: "Take back an approval: the former definition is pinned again",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			server, tool, _ := strings.Cut(args[0], "::")
			revoked, err := pins.Revoke(w.pinsDir(), server, tool)
			if err != nil {
				return err
			}
			if len(revoked) == 0 {
				fmt.Fprintf(w.out, "nothing of %s was approved\n", args[0])
				return nil
			}
			for _, name := range revoked {
				fmt.Fprintf(w.out, "revoked the approval of %s::%s\n", server, name)
			}
			return nil
		},
	}
}

// pinsDir is where the running program keeps its pins.
func (w world) pinsDir() string {
	if w.stateDir == "" {
		return ""
	}
	return filepath.Join(w.stateDir, "pins")
}

// pinsText shows what needs a person's eye, then how much does not.
func pinsText(all []pins.Pin) string {
	if len(all) == 0 {
		return "nothing is pinned yet: a server is when its lists are first read\n"
	}
	var b strings.Builder
	quiet := 0
	for _, p := range all {
		if p.State == pins.StatePinned && len(p.Findings) == 0 {
			quiet++
			continue
		}
		fmt.Fprintf(&b, "%s::%s  %s", p.Server, p.Tool, p.State)
		for _, f := range p.Findings {
			b.WriteString("  " + string(f))
		}
		b.WriteByte('\n')
		for line := range strings.Lines(p.Diff) {
			b.WriteString("    " + line)
		}
		if p.State != pins.StatePinned {
			fmt.Fprintf(&b, "    secateur pins approve %s::%s\n", p.Server, p.Tool)
		}
	}
	fmt.Fprintf(&b, "%d definitions are as they were pinned\n", quiet)
	return b.String()
}
