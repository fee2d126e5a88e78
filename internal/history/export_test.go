package history

import "context"

// Restore looks at once whether the engine has lost what was shared, and shares it again.
func (h *History) Restore(ctx context.Context) error {
	h.restore(ctx)
	return h.Share(ctx)
}
