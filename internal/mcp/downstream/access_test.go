package downstream_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"secateur/internal/access/limit"
	"secateur/internal/mcp/downstream"
)

const (
	mine     = "Authorization: Bearer mine"
	yours    = "Authorization: Bearer yours"
	nobody   = "Authorization: Bearer none"
	stranger = "Authorization: Bearer stranger"
)

const byBody = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","proxy":{"authToken":"body"}}}`

func TestWhoMayDoWhat(t *testing.T) {
	response := `{"jsonrpc":"2.0","id":"q","result":{}}`
	h := build(t, &brain{})
	withToken := h.open(t, "2025-06-18", mine)
	resp := h.ask(t, "POST", "", byBody, nobody)
	inBody := "Mcp-Session-Id: " + resp.Header.Get("Mcp-Session-Id")
	for _, c := range []struct {
		rule, method, path, body string
		header                   []string
		status                   int
	}{
		{"a stranger", "POST", "", call(1, "x"), []string{stranger, modern}, 403},
		{"a stranger listens", "GET", "", "", []string{stranger}, 403},
		{"nobody asks a server that is not known", "POST", "/two", call(1, "x"), []string{nobody, modern}, 401},
		{"nobody initializes: the session decides", "POST", "", initialize("2025-06-18"), []string{nobody}, 401},
		{"nobody sends a modern request: the session decides", "POST", "", call(1, "x"), []string{nobody, modern}, 200},
		{"nobody opens HTTP+SSE", "GET", "", "", []string{nobody}, 401},
		{"nobody sends what is no JSON", "POST", "", "{", []string{nobody}, 401},
		{"nobody sends what is no message", "POST", "", "{}", []string{nobody}, 401},
		{"nobody sends a form", "POST", "", "a=b", []string{nobody, "Content-Type: text/plain"}, 401},
		{"nobody asks without a session", "POST", "", call(1, "x"), []string{nobody}, 401},
		{"nobody asks in a session that is not there", "POST", "", call(1, "x"), []string{nobody, "Mcp-Session-Id: x"}, 401},
		{"nobody sends a batch", "POST", "", "[" + call(1, "x") + "]", []string{nobody}, 401},
		{"nobody speaks a version that is not spoken", "POST", "", call(1, "x"), []string{nobody, "Mcp-Protocol-Version: 1999-01-01"}, 401},
		{"nobody puts", "PUT", "", "", []string{nobody}, 401},
		{"a query that is wrong", "POST", "?broken", call(1, "x"), []string{mine}, 400},
		{"nobody sends a query that is wrong", "POST", "?broken", call(1, "x"), []string{nobody}, 401},

		{"the owner asks", "POST", "", call(1, "x"), []string{mine, withToken}, 200},
		{"the owner notifies", "POST", "", note("x"), []string{mine, withToken}, 202},
		{"another asks", "POST", "", call(1, "x"), []string{yours, withToken}, 404},
		{"another notifies", "POST", "", note("x"), []string{yours, withToken}, 404},
		{"another listens", "GET", "", "", []string{yours, withToken}, 404},
		{"another ends it", "DELETE", "", "", []string{yours, withToken}, 404},
		{"nobody asks: the session decides", "POST", "", call(1, "x"), []string{nobody, withToken}, 200},
		{"nobody notifies", "POST", "", note("x"), []string{nobody, withToken}, 401},
		{"nobody responds", "POST", "", response, []string{nobody, withToken}, 401},
		{"nobody listens", "GET", "", "", []string{nobody, withToken}, 401},
		{"nobody ends it", "DELETE", "", "", []string{nobody, withToken}, 401},

		{"a token in the body: asks", "POST", "", call(1, "x"), []string{nobody, inBody}, 200},
		{"a token in the body: notifies", "POST", "", note("x"), []string{nobody, inBody}, 202},
		{"a token in the body: responds", "POST", "", response, []string{nobody, inBody}, 202},
		{"a token in the body: another asks", "POST", "", call(1, "x"), []string{yours, inBody}, 404},
		{"a wrong token is not made good by the body's", "POST", "", byBody, []string{"Authorization: Bearer wrong"}, 401},
		{"a token in the body: ends it", "DELETE", "", "", []string{nobody, inBody}, 204},
	} {
		resp := h.ask(t, c.method, c.path, c.body, c.header...)
		body := text(t, resp)
		if resp.StatusCode != c.status {
			t.Errorf("%s: %d %s, want %d", c.rule, resp.StatusCode, body, c.status)
		}
		switch c.status {
		case 401:
			if !strings.Contains(body, "-32015") {
				t.Errorf("%s: %s", c.rule, body)
			}
			if resp.Header.Get("Www-Authenticate") == "" && !strings.Contains(c.rule, "session decides") {
				t.Errorf("%s: no challenge", c.rule)
			}
		case 403:
			if !strings.Contains(body, "-32016") {
				t.Errorf("%s: %s", c.rule, body)
			}
		}
	}
	if got := h.sessions()[0].Opening.Principal; got == nil || got.Subject != "mine" {
		t.Errorf("opened by %+v", got)
	}
	if got := h.sessions()[1].Opening.Principal; got != nil {
		t.Errorf("opened by %+v, want nobody known", got)
	}
}

func TestATokenInTheBodyLetsAClientListen(t *testing.T) {
	h := build(t, &brain{})
	session := "Mcp-Session-Id: " + h.ask(t, "POST", "", byBody, nobody).Header.Get("Mcp-Session-Id")
	resp := h.ask(t, "GET", "", "", nobody, session)
	if resp.StatusCode != http.StatusOK {
		t.Errorf("%d", resp.StatusCode)
	}
}

// Before the sender is known, only a small part of a message is read. If other machines can reach
// us, nothing is read.
func TestLittleIsReadOfStrangers(t *testing.T) {
	large := strings.Replace(byBody, `"proxy"`, `"padding":"`+strings.Repeat("x", 80<<10)+`","proxy"`, 1)
	h := build(t, &brain{})
	if resp := h.ask(t, "POST", "", large, mine); resp.StatusCode != http.StatusOK {
		t.Errorf("80 KiB with a token in the header: %d", resp.StatusCode)
	}
	if resp := h.ask(t, "POST", "", large, nobody); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("80 KiB with a token only within: %d, want 401", resp.StatusCode)
	}
	if resp := h.ask(t, "POST", "", byBody, nobody); resp.StatusCode != http.StatusOK {
		t.Errorf("a token within a small message: %d", resp.StatusCode)
	}
	public := build(t, &brain{}, func(o *downstream.HTTPOptions) { o.TokenInHeader = true })
	if resp := public.ask(t, "POST", "", byBody, nobody); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("a token within a message that came from elsewhere: %d, want 401", resp.StatusCode)
	}
	if resp := public.ask(t, "POST", "", initialize("2025-06-18"), mine); resp.StatusCode != http.StatusOK {
		t.Errorf("a token in the header from elsewhere: %d", resp.StatusCode)
	}
}

// The total memory for messages from unknown senders is limited, too.
func TestFewStrangersAreReadAtOnce(t *testing.T) {
	h := build(t, &brain{})
	var open []net.Conn
	defer func() {
		for _, c := range open {
			_ = c.Close()
		}
	}()
	addr := strings.TrimSuffix(strings.TrimPrefix(h.url, "http://"), "/mcp")
	for range 64 {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
		_, _ = io.WriteString(c, "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer none\r\nContent-Length: 60000\r\n\r\n{")
	}
	deadline := time.Now().Add(30 * time.Second)
	for {
		resp := h.ask(t, "POST", "", byBody, nobody)
		if resp.StatusCode == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") != "" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("64 strangers send slowly, and one more is answered %d, want 503", resp.StatusCode)
		}
	}
	if resp := h.ask(t, "POST", "", initialize("2025-06-18"), mine); resp.StatusCode != http.StatusOK {
		t.Errorf("who is known meanwhile: %d, want 200", resp.StatusCode)
	}
}

// One caller cannot take all sessions quickly, and its attempts do not block others.
func TestOpeningSessionsIsLimited(t *testing.T) {
	inBubble(t, &brain{}, func(h *house) {
		t := h.t
		for range 10 { // opened and ended, they take nothing from others
			h.ask(t, "DELETE", "", "", mine, h.open(t, "2025-06-18", mine))
		}
		for i := range 7 {
			resp := h.ask(t, "POST", "", initialize("2025-06-18"), mine)
			if limited := resp.StatusCode == http.StatusTooManyRequests && resp.Header.Get("Retry-After") != ""; limited != (i >= 5) {
				t.Errorf("session %d, two of which are free and three more a minute: %d", i+1, resp.StatusCode)
			}
		}
		if resp := h.ask(t, "GET", "", "", mine); resp.StatusCode != http.StatusTooManyRequests {
			t.Errorf("over HTTP+SSE: %d, want 429", resp.StatusCode)
		}
		if resp := h.ask(t, "POST", "", initialize("2025-06-18"), yours); resp.StatusCode != http.StatusOK {
			t.Errorf("another caller: %d", resp.StatusCode)
		}
	}, func(o *downstream.HTTPOptions) { o.Openings, o.MaxSessions = limit.PerMinute(3), 32 })
}
