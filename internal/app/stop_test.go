package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// After a second Ctrl-C the message says what happened, without internal terms.
func TestCutShortIsToldInPlainWords(t *testing.T) {
	for want, err := range map[string]error{
		"requests were cut off by the second signal": fmt.Errorf("shut down: %w", context.Canceled),
		"longer than response_timeout allows":        context.DeadlineExceeded,
		"requests were cut off: the disk is gone":    errors.New("the disk is gone"),
	} {
		if got := cutShort(err).Error(); !strings.Contains(got, want) || strings.Contains(got, "context") {
			t.Errorf("cutShort(%v) = %q, want %q", err, got, want)
		}
	}
}
