package originals_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain also serves as the other process of the tests that need one: with otherProcess in the environment the
// test binary does what that says instead of testing.
func TestMain(m *testing.M) {
	if what := os.Getenv(otherProcess); what != "" {
		os.Exit(runOther(what))
	}
	goleak.VerifyTestMain(m)
}
