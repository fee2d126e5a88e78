package access

import "context"

type contextKey struct{}

// NewContext attaches a principal for a server inside this program. Such a server is called like
// any other, so no parameter can carry the principal. Everywhere else a principal is a parameter.
func NewContext(ctx context.Context, p *Principal) context.Context {
	return context.WithValue(ctx, contextKey{}, p)
}

// FromContext returns the principal that calls a server inside this program, or nil if unknown.
func FromContext(ctx context.Context) *Principal {
	p, _ := ctx.Value(contextKey{}).(*Principal)
	return p
}
