package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newMan(w world) *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		Short:   "Write the manual pages, one for each command",
		Long:    `man writes secateur.1 and a page for each command into a directory, which is made if it is missing.`,
		Example: `  secateur man ./man`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil { //nolint:gosec // manuals are for everyone
				return err
			}
			n, err := writeManuals(args[0], cmd.Root())
			if err == nil {
				fmt.Fprintf(w.out, "wrote %s to %s\n", plural(n, "manual page"), args[0])
			}
			return err
		},
	}
}

// writeManuals writes the page of a command and of those below it.
func writeManuals(dir string, cmd *cobra.Command) (n int, err error) {
	if cmd.IsAdditionalHelpTopicCommand() {
		return 0, nil
	}
	file := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
	if err := os.WriteFile(filepath.Join(dir, file), []byte(manual(cmd)), 0o644); err != nil { //nolint:gosec // as above
		return 0, err
	}
	n = 1
	for _, below := range cmd.Commands() {
		more, err := writeManuals(dir, below)
		if n += more; err != nil {
			return n, err
		}
	}
	return n, nil
}

// manual is the page of a command, in the macros of man(7).
func manual(cmd *cobra.Command) string {
	cmd.InitDefaultHelpFlag()
	var b strings.Builder
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	fmt.Fprintf(&b, ".TH %q 1 \"\" \"secateur %s\" \"secateur\"\n", strings.ToUpper(name), version)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.nf\n%s\n.fi\n", roff(strings.TrimSpace(cmd.UseLine())))
	about := cmd.Long
	if about == "" {
		about = cmd.Short + "."
	}
	fmt.Fprintf(&b, ".SH DESCRIPTION\n.nf\n%s\n.fi\n", roff(about))
	if flags := cmd.NonInheritedFlags(); flags.HasAvailableFlags() {
		b.WriteString(".SH OPTIONS\n")
		flags.VisitAll(func(f *pflag.Flag) {
			if f.Hidden {
				return
			}
			value, about := pflag.UnquoteUsage(f)
			option := "--" + f.Name
			if f.Shorthand != "" {
				option = "-" + f.Shorthand + ", " + option
			}
			fmt.Fprintf(&b, ".TP\n\\fB%s\\fR \\fI%s\\fR\n%s\n", roff(option), roff(value), roff(about))
		})
	}
	if cmd.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(cmd.Example))
	}
	b.WriteString(".SH EXIT STATUS\n0 well, 1 failure, 2 usage, 3 the configuration is invalid, 4 no running program answers.\n")
	var others []string
	if cmd.HasParent() {
		others = append(others, strings.ReplaceAll(cmd.Parent().CommandPath(), " ", "-")+"(1)")
	}
	for _, below := range cmd.Commands() {
		if below.IsAvailableCommand() {
			others = append(others, strings.ReplaceAll(below.CommandPath(), " ", "-")+"(1)")
		}
	}
	if len(others) > 0 {
		fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n", roff(strings.Join(others, ", ")))
	}
	return b.String()
}

// roff is a text as it stands in a page: a backslash, a hyphen that is one, what is not ASCII, and a line that begins like a request.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	var ascii strings.Builder
	for _, r := range s {
		if r < utf8.RuneSelf {
			ascii.WriteRune(r)
		} else {
			fmt.Fprintf(&ascii, `\[u%04X]`, r)
		}
	}
	lines := strings.Split(ascii.String(), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
