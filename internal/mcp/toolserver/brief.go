package toolserver

import (
	"context"

	"secateur/internal/mcp/wire"
)

// briefKey is the context key of WithBrief.
type briefKey struct{}

// WithBrief marks requests of clients that hand lists and results to a model. A server answers them
// with its brief tools. maxChars is the default length of a result's text, in characters.
func WithBrief(ctx context.Context, maxChars int) context.Context {
	return context.WithValue(ctx, briefKey{}, maxChars)
}

// BriefChars returns the maxChars of WithBrief; 0: the request is not marked.
func BriefChars(ctx context.Context) int {
	n, _ := ctx.Value(briefKey{}).(int)
	return n
}

// tableFor returns the tools that answer a request.
func (s *Server) tableFor(ctx context.Context) *table {
	if s.brief != nil && BriefChars(ctx) > 0 {
		return s.brief
	}
	return s.full
}

// withHint repeats an error's hint in its message. Most clients show a model the message alone.
func withHint(e *wire.Error) *wire.Error {
	if e != nil && e.Data.Hint != "" {
		e.Message += ": " + e.Data.Hint
	}
	return e
}
