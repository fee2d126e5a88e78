package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"secateur/internal/ops/admin"
)

func newCall(w world) *cobra.Command {
	var flags daemonFlags
	cmd := &cobra.Command{
		Use:   "call SERVER::TOOL [JSON | -]",
		Short: "Call a tool of the running program; its result is not cut",
		Long: `call calls a tool with the arguments in JSON, or read from standard input for -, and prints the
text of its result. Characters that a terminal acts on or hides are escaped as in JSON (\u001b),
unless standard output is a file; --json keeps the meaning of every character. Exit status 1 on
an error, also one that the tool itself reports.` + daemonHelp,
		Example: `  secateur call demo::read_log
  secateur call demo::read_json '{}'
  echo '{}' | secateur call demo::read_log - --json`,
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: w.completeTools,
		RunE: func(cmd *cobra.Command, args []string) error {
			body, err := w.callBody(args)
			if err != nil {
				return err
			}
			c, err := w.reach(cmd.Context(), flags)
			if err != nil {
				return err
			}
			raw, err := c.do(cmd.Context(), http.MethodPost, "/call", body)
			if err != nil {
				return err
			}
			answer, err := decode[toolAnswer](raw)
			if err != nil {
				return err
			}
			if !flags.asJSON {
				if w.kind == toFile { // nobody looks at it now: it gets the text as it is
					w.out = exact(w.out)
				}
				return w.printAnswer(answer)
			}
			if _, err := w.out.Write(raw); err != nil {
				return err
			}
			if answer.Error != nil || answer.Result.IsError {
				return exitError{code: exitFailure}
			}
			return nil
		},
	}
	flags.register(cmd)
	return cmd
}

// callBody is the request for the arguments of the command line.
func (w world) callBody(args []string) ([]byte, error) {
	arguments := "{}"
	if len(args) == 2 {
		arguments = args[1]
	}
	if arguments == "-" {
		text, err := io.ReadAll(w.in)
		if err != nil {
			return nil, fmt.Errorf("standard input: %w", err)
		}
		arguments = string(text)
	}
	if !json.Valid([]byte(arguments)) || !strings.HasPrefix(strings.TrimSpace(arguments), "{") {
		return nil, usage("the arguments are a JSON object, such as '{\"path\":\"/tmp\"}'")
	}
	return json.Marshal(admin.CallRequest{Tool: args[0], Arguments: []byte(arguments)})
}

// toolAnswer is what a person wants to see of an answer.
type toolAnswer struct {
	Result struct {
		Content []struct {
			Type     string `json:"type"`
			Text     string `json:"text"`
			MimeType string `json:"mimeType"`
			URI      string `json:"uri"`
		} `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
		IsError    bool            `json:"isError"`
	} `json:"result"`
	Error *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    struct {
			Hint string `json:"hint"`
		} `json:"data"`
	} `json:"error"`
}

func (w world) printAnswer(a toolAnswer) error {
	if a.Error != nil {
		if hint := a.Error.Data.Hint; hint != "" {
			return fmt.Errorf("%s; %s", a.Error.Message, hint)
		}
		return fmt.Errorf("%s (%d)", a.Error.Message, a.Error.Code)
	}
	for _, c := range a.Result.Content {
		switch {
		case c.Type == "text":
			fmt.Fprint(w.out, c.Text)
			if !strings.HasSuffix(c.Text, "\n") {
				fmt.Fprintln(w.out)
			}
		case c.URI != "":
			fmt.Fprintf(w.out, "[%s %s]\n", c.Type, c.URI)
		default:
			fmt.Fprintf(w.out, "[%s %s]\n", c.Type, c.MimeType)
		}
	}
	if len(a.Result.Content) == 0 && len(a.Result.Structured) > 0 {
		fmt.Fprintf(w.out, "%s\n", a.Result.Structured)
	}
	if a.Result.IsError {
		return exitError{code: exitFailure}
	}
	return nil
}

func decode[T any](raw []byte) (value T, err error) {
	return value, json.Unmarshal(raw, &value)
}
