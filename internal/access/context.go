package access

import "context"

type contextKey struct{}

// NewContext lets a principal cross to a server inside this program, which is reached through the same connection as any other and has no
// parameter for it. Everywhere else a principal is a parameter.
func NewContext(ctx context.Context, p *Principal) context.Context {
	return context.WithValue(ctx, contextKey{}, p)
}

// FromContext is the principal on whose behalf a server inside this program is called; nil if that was not told.
func FromContext(ctx context.Context) *Principal {
	p, _ := ctx.Value(contextKey{}).(*Principal)
	return p
}
