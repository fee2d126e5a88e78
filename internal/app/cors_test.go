package app

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestCORS(t *testing.T) {
	door := cors{[]string{"https://app.example"}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*") // as a provider sends it
		w.Header().Set("Access-Control-Allow-Credentials", "true")
		_, _ = w.Write([]byte(r.Method))
	})}
	for _, c := range []struct {
		rule, method, origin string
		asked                map[string]string
		status               int
		body                 string
		want                 map[string]string
	}{
		{
			"a page that may", "POST", "https://app.example", nil, 200, "POST",
			map[string]string{"Access-Control-Allow-Origin": "https://app.example", "Access-Control-Expose-Headers": exposed, "Access-Control-Allow-Credentials": "", "Vary": "Origin"},
		},
		{
			"what it asks before", "OPTIONS", "https://app.example",
			map[string]string{"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type,mcp-session-id", "Access-Control-Request-Private-Network": "true"},
			204, "",
			map[string]string{
				"Access-Control-Allow-Origin": "https://app.example", "Access-Control-Allow-Methods": "GET, POST, PUT, DELETE",
				"Access-Control-Allow-Headers": "content-type,mcp-session-id", "Access-Control-Allow-Private-Network": "true",
			},
		},
		{"another page", "POST", "https://evil.example", nil, 200, "POST", map[string]string{"Access-Control-Expose-Headers": "", "Vary": ""}},
		{"what another page asks before", "OPTIONS", "https://evil.example", map[string]string{"Access-Control-Request-Method": "POST"}, 200, "OPTIONS", map[string]string{"Access-Control-Allow-Methods": ""}},
		{"a page whose origin only begins like it", "POST", "https://app.example.evil", nil, 200, "POST", map[string]string{"Access-Control-Expose-Headers": ""}},
		{"no page", "GET", "", nil, 200, "GET", map[string]string{"Access-Control-Expose-Headers": ""}},
		{"OPTIONS that asks nothing", "OPTIONS", "https://app.example", nil, 200, "OPTIONS", map[string]string{"Access-Control-Allow-Methods": ""}},
	} {
		r := httptest.NewRequest(c.method, "/mcp", nil)
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		for name, value := range c.asked {
			r.Header.Set(name, value)
		}
		w := httptest.NewRecorder()
		door.ServeHTTP(w, r)
		if w.Code != c.status || w.Body.String() != c.body {
			t.Errorf("%s: %d %q, want %d %q", c.rule, w.Code, w.Body, c.status, c.body)
		}
		for name, want := range c.want {
			if got := strings.Join(w.Header().Values(name), " + "); got != want {
				t.Errorf("%s: %s: %q, want %q", c.rule, name, got, want)
			}
		}
	}
}
