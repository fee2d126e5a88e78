package proxy_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"secateur/internal/access"
	"secateur/internal/llm/proxy"
)

func TestRefusedCallersGetAnErrorTheyKnow(t *testing.T) {
	for _, c := range []struct {
		kind   access.Kind
		status int
		want   string
	}{
		{access.Unauthorized, 401, `{"error":{"message":"no","type":"authentication_error","param":null,"code":"invalid_api_key"}}`},
		{access.Forbidden, 403, `{"error":{"message":"no","type":"permission_error","param":null,"code":"forbidden"}}`},
	} {
		rec := httptest.NewRecorder()
		proxy.Refuse(rec, httptest.NewRequest(http.MethodPost, "/", nil), access.Verdict{Kind: c.kind, Reason: "no"})
		if rec.Code != c.status || strings.TrimSpace(rec.Body.String()) != c.want {
			t.Errorf("%d %s, want %d %s", rec.Code, rec.Body, c.status, c.want)
		}
	}
}
