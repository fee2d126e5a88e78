package secret

import (
	"net/http"
	"strings"
	"testing"
)

func TestErrorsOfRequestsLoseTheirAddress(t *testing.T) {
	res, err := http.Get("ftp://127.0.0.1/?key=hunter2")
	if err == nil {
		_ = res.Body.Close()
		t.Fatal("no error")
	}
	if got := WithoutURL(err); strings.Contains(got.Error(), "hunter2") || !strings.Contains(err.Error(), "hunter2") {
		t.Errorf("WithoutURL(%v) = %v", err, got)
	}
}
