package history

import (
	"context"
	"errors"
)

// Restore checks at once whether the engine has lost shared data, and shares it again.
func (h *History) Restore(ctx context.Context) error {
	return errors.Join(h.restore(ctx, true), h.Share(ctx))
}
