package proxy_test

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if isProxy() {
		return
	}
	goleak.VerifyTestMain(m)
}
