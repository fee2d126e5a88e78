package telemetry_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"secateur/internal/ops/telemetry"
)

func TestStructuredLogIsOneObjectALine(t *testing.T) {
	var out bytes.Buffer
	telemetry.NewLogger(&out, slog.LevelInfo, true).Info("upstream restarted", "upstream", "files")
	var line struct {
		Msg      string `json:"msg"`
		Upstream string `json:"upstream"`
	}
	if err := json.Unmarshal(out.Bytes(), &line); err != nil || line.Upstream != "files" || line.Msg != "upstream restarted" {
		t.Errorf("log line %q: %+v, %v", out.String(), line, err)
	}
}

func TestMetricsNameTheVersion(t *testing.T) {
	rec := httptest.NewRecorder()
	telemetry.Handler(telemetry.NewRegistry("v9", "abc")).ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if !strings.Contains(rec.Body.String(), `secateur_build_info{commit="abc",goversion="`+runtime.Version()+`",version="v9"} 1`) {
		t.Errorf("/metrics does not name the version:\n%s", rec.Body.String())
	}
}
