package demo

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"secateur/internal/mcp/toolserver"
	"secateur/internal/mcp/wire"
)

const noArguments = `{"type":"object","properties":{},"additionalProperties":false}`

// New returns the server. It answers raw messages; see [toolserver.Server].
func New(version string) (*toolserver.Server, error) {
	return toolserver.New(toolserver.Options{
		Name:         "secateur-demo",
		Title:        "secateur demo",
		Version:      version,
		Instructions: "Three large texts to try cutting and recovery on: read_log, read_source and read_json.",
		Tools: []toolserver.Tool{
			answer("read_log", "A build log of 2 500 lines in which one test fails.", Log()),
			answer("read_source", "A Go source file of 1 400 lines with the fault behind that failure.", sourceFile()),
			answer("read_json", "A stock list of 900 articles as one JSON text.", stockList()),
		},
	})
}

// answer returns a tool that always gives the same answer.
func answer(name, description, text string) toolserver.Tool {
	return toolserver.Tool{
		Name: name, Description: description, Schema: noArguments, ReadOnly: true,
		Call: func(context.Context, jsontext.Value) (toolserver.Result, *wire.Error) {
			return toolserver.Result{Text: text}, nil
		},
	}
}
