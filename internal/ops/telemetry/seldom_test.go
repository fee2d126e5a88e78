package telemetry_test

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/ops/telemetry"
)

func TestAFloodIsOneLineWithACount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		log := slog.New(slog.NewTextHandler(&out, nil))
		var s telemetry.Seldom
		for range 97_000 {
			s.Warn(t.Context(), log, "garbage", "server", "a")
		}
		time.Sleep(time.Minute)
		s.Warn(t.Context(), log, "garbage", "server", "a")
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) != 2 || !strings.HasSuffix(lines[0], "count=1") || !strings.HasSuffix(lines[1], "server=a count=97000") {
			t.Errorf("%d lines, the last %q, want two, the second with the count", len(lines), lines[len(lines)-1])
		}
	})
}
