package capture

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/access"
)

// recorded sends a body through a recorder to an echoing handler.
func recorded(t *testing.T, s Settings, secrets Secrets, path, kind, body string) Exchange {
	t.Helper()
	book := &Book{}
	t.Cleanup(book.Clear)
	c, err := New(s, secrets, book)
	if err != nil {
		t.Fatal(err)
	}
	answer := httptest.NewRecorder()
	w, r, end := c.Begin(nil, "r1", answer, httptest.NewRequest(http.MethodPost, path, strings.NewReader(body)))
	w.Header().Set("Content-Type", kind)
	if _, err := io.Copy(w, r.Body); err != nil {
		t.Fatal(err)
	}
	end()
	if answer.Body.String() != body {
		t.Errorf("%.100q passed, not %.100q", answer.Body, body)
	}
	e, ok := book.Find("", "r1")
	if !ok {
		t.Fatal("nothing is kept")
	}
	return e
}

func TestSecretsAreTakenOut(t *testing.T) {
	known := Secrets{Fields: []string{"iban"}, Patterns: []string{`employee-\d+`}, Values: []string{"value-of-the-configuration", "short"}}
	long := strings.Repeat("x", 20_000)
	for rule, body := range map[string]string{
		"a token in a message":            `{"params":{"proxy":{"authToken":"CANARY"},"name":"a"}}`,
		"a field of a rule":               `{"a":[{"iban":"CANARY"}]}`,
		"a field with an object":          `{"secret":{"of":["CANARY"]},"b":1}`,
		"a document in a text":            `{"text":"{\"password\":\"CANARY\"}"}`,
		"a key":                           `{"text":"use sk-CANARYCANARYCANARY now"}`,
		"a pattern of a rule, escaped":    `{"text":"employee\u002d777CANARY"}`,
		"a value of the configuration":    `{"text":"it is value-of-the-configuration"}`,
		"an event of a stream":            "event: message\ndata: {\"result\":{\"token\":\"CANARY\"}}\n\n",
		"a document that is cut off":      `{"pad":"` + long + `","x":1` + `}`,
		"a field of one that is cut off":  `{"password":"CANARY","pad":"` + long + `"}`,
		"an object in one that is cut":    `{"secret":{"of":["CANARY"]},"pad":"` + long + `"}`,
		"a text within one that is cut":   `{"t":"{\"password\":\"CANARY\"}","pad":"` + long + `"}`,
		"a secret over the end":           `{"t":"` + strings.Repeat("y", 1024-len(`{"t":" sk-CANARYCAN`)) + ` sk-CANARYCANARYCANARYCANARY","pad":"` + long + `"}`,
		"a bearer in plain text":          "Authorization: Bearer CANARY-abcdef",
		"a private key of several lines":  "-----BEGIN RSA PRIVATE KEY-----\nCANARY\nCANARY\n-----END RSA PRIVATE KEY-----\n",
		"a password in an address":        `{"url":"redis://user:CANARY@host/0"}`,
		"what is no text":                 "\xff\xfe sk-CANARYCANARYCANARY",
		"a message with no secret at all": `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`,
	} {
		for side, p := range map[string]Payload{"request": recorded(t, Settings{Bytes: 1024, TTL: time.Minute}, known, "/mcp", "text/event-stream", body).Request} {
			if strings.Contains(p.Text, "CANARY") && !strings.Contains(rule, "pattern of a rule") || strings.Contains(p.Text, "employee-777") || strings.Contains(p.Text, "value-of-the") {
				t.Errorf("%s, %s: %q", rule, side, p.Text)
			}
			if len(p.Text) > 1024 || p.Bytes != int64(len(body)) || p.Cut != (len(body) > 1024) || p.Text == "" {
				t.Errorf("%s, %s: %d characters of %d bytes, cut %v", rule, side, len(p.Text), p.Bytes, p.Cut)
			}
		}
	}
	if got := recorded(t, Settings{Bytes: 1024, TTL: time.Minute}, known, "/mcp", "", `{"jsonrpc":"2.0","id":1}`).Answer; got.Text != `{"jsonrpc":"2.0","id":1}` || got.Cut {
		t.Errorf("a message with no secret: %+v", got)
	}
}

func TestAModelsStreamIsNotKept(t *testing.T) {
	got := recorded(t, Settings{Bytes: 1024, TTL: time.Minute}, Secrets{}, "/v1/chat/completions", "text/event-stream; charset=utf-8", "data: {}\n\n")
	if got.Answer.Text != "" || got.Answer.Note == "" || got.Request.Text == "" {
		t.Errorf("%+v", got)
	}
}

func TestItIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book := &Book{}
		keep := func(owner, id string) { book.put(owner, id, Exchange{ExpiresAt: time.Now().Add(time.Minute)}) }
		has := func(owner, id string) bool { _, ok := book.Find(owner, id); return ok }
		keep("a", "1")
		if !has("a", "1") || has("b", "1") || has("", "1") {
			t.Error("it is for its owner alone")
		}
		time.Sleep(30 * time.Second)
		keep("a", "2")
		time.Sleep(30 * time.Second)
		synctest.Wait()
		if has("a", "1") || !has("a", "2") || len(book.all) != 1 {
			t.Errorf("after a minute there are %d", len(book.all))
		}
		for n := range 1000 {
			keep("a", fmt.Sprint("n", n))
			keep("a", fmt.Sprint("n", n))
		}
		if len(book.all) != mostExchanges*3/4 || len(book.order) != len(book.all) || has("a", "2") || !has("a", "n999") {
			t.Errorf("%d are held", len(book.all))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(book.all)+len(book.order) > 0 {
			t.Errorf("%d are held for ever", len(book.all))
		}
		keep("a", "3")
		book.Clear()
		if has("a", "3") {
			t.Error("it is still there")
		}
	})
}

// A caller's requests push out its own captures, not those of others.
func TestOneCallerDoesNotPushOutTheCapturesOfOthers(t *testing.T) {
	book := &Book{}
	t.Cleanup(book.Clear)
	keep := func(p *access.Principal, id string) {
		book.put(p.Owner(), id, Exchange{ExpiresAt: time.Now().Add(time.Hour), holder: access.HolderOf(p)})
	}
	quiet, busy := &access.Principal{Subject: "quiet", Tenant: "a"}, &access.Principal{Subject: "busy", Tenant: "b"}
	keep(quiet, "mine")
	for n := range 1000 {
		keep(busy, fmt.Sprint(n))
	}
	if _, ok := book.Find("a", "mine"); !ok {
		t.Error("a thousand requests of another tenant have pushed it out")
	}
	if _, ok := book.Find("b", "999"); !ok || len(book.order) != len(book.all) || len(book.all) > mostExchanges {
		t.Errorf("%d are held, the newest: %v", len(book.all), ok)
	}
	for n := range mostExchanges {
		keep(&access.Principal{Subject: fmt.Sprint("caller ", n)}, fmt.Sprint("one of ", n))
	}
	if _, ok := book.Find("", fmt.Sprint("one of ", mostExchanges-1)); !ok || len(book.all) > mostExchanges {
		t.Errorf("%d are held of many callers, the newest: %v", len(book.all), ok)
	}
}

func TestOffIsNothing(t *testing.T) {
	if c, err := New(Default(), Secrets{}, &Book{}); c != nil || err != nil {
		t.Errorf("New = %v, %v", c, err)
	}
	for _, s := range []Settings{{Bytes: -1, TTL: time.Minute}, {Bytes: 1 << 20, TTL: time.Minute}, {Bytes: 1}, {Bytes: 1, TTL: 48 * time.Hour}} {
		if s.Validate() == nil {
			t.Errorf("%+v is taken", s)
		}
	}
}
