package originals_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain also serves as the second process of some tests: with otherProcess in the environment it
// runs that instead of the tests.
func TestMain(m *testing.M) {
	if what := os.Getenv(otherProcess); what != "" {
		os.Exit(runOther(what))
	}
	goleak.VerifyTestMain(m)
}
