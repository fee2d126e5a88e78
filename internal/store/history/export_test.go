package history

import (
	"context"
	"errors"
)

// Restore looks at once whether the engine has lost what was shared, and shares it again.
func (h *History) Restore(ctx context.Context) error {
	return errors.Join(h.restore(ctx, true), h.Share(ctx))
}
