package test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"strings"
	"sync"
	"testing"
	"time"
)

// listener is a server that answers everything and records what reached it, byte for byte.
type listener struct {
	*httptest.Server

	mu  sync.Mutex
	got [][]byte
}

func newListener(t *testing.T) *listener {
	t.Helper()
	l := &listener{}
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		l.mu.Lock()
		l.got = append(l.got, body)
		l.mu.Unlock()
		var m struct {
			ID json.RawMessage `json:"id"`
		}
		_ = json.Unmarshal(body, &m)
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`, m.ID)
	}))
	t.Cleanup(l.Close)
	return l
}

func (l *listener) take() [][]byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	got := l.got
	l.got = nil
	return got
}

// readings returns what other parsers take for the member at a path: the last of several, the
// first, in any case.
func readings(doc []byte, names ...string) (all []string) {
	var walk func(raw json.RawMessage, names []string)
	walk = func(raw json.RawMessage, names []string) {
		if len(names) == 0 {
			var text string
			if json.Unmarshal(raw, &text) == nil {
				all = append(all, text)
			}
			return
		}
		d := json.NewDecoder(bytes.NewReader(raw))
		if start, err := d.Token(); err != nil || start != json.Delim('{') {
			return
		}
		for d.More() {
			name, err := d.Token()
			var value json.RawMessage
			if err != nil || d.Decode(&value) != nil {
				return
			}
			if text, ok := name.(string); ok && strings.EqualFold(strings.TrimRight(text, "\x00\u200b"), names[0]) {
				walk(value, names[1:])
			}
		}
	}
	walk(bytes.TrimPrefix(doc, []byte("\xef\xbb\xbf")), names)
	return all
}

// smuggled are calls that one lax parser takes for a call of "write" and another for one of "read".
func smuggled() []string {
	call := func(params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`
	}
	return []string{
		call(`{"name":"read","name":"write"}`), call(`{"name":"write","name":"read"}`),
		call(`{"name":"read","Name":"write"}`), call(`{"Name":"write","name":"read"}`),
		call(`{"name":"read","\u006eame":"write"}`), call(`{"n\u0061me":"write"}`),
		call(`{"name":"wr\u0069te"}`), call(`{"name":"read","name\u0000":"write"}`),
		call(`{"name":"read"},"params":{"name":"write"}`), call(`{"name":"read"},"Params":{"name":"write"}`),
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call","params":{"name":"write"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","Method":"tools/call","params":{"name":"write"}}`,
		`{"jsonrpc":"2.0","id":1,"METHOD":"tools/call","params":{"name":"write"},"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools\/call","params":{"name":"write"}}`,
		"\xef\xbb\xbf" + call(`{"name":"write"}`),
		call(`{"name":"write"} `) + call(`{"name":"read"}`), call(`{"name":"read"}`) + "\n" + call(`{"name":"write"}`),
		"[" + call(`{"name":"read"}`) + "," + call(`{"name":"write"}`) + "]",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{}},"params\u0000":{"name":"write"}}`,
		call(`{"name":"write\u0000"}`), call("{\"name\":\"write\xff\"}"), call(`["write"]`), call(`{"name":["write"]}`),
		call(`{"name":"read","arguments":{},"x":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `,"name":"write"}`),
		call(`{"name":"read","a":NaN,"name":"write"}`), call(`{"name":"write",}`), call(`{"name":/*x*/"write"}`), call(`{'name':'write'}`),
		call(`{"name":"read"}`),
	}
}

// Access decisions are about what the server receives, however a message is written.
func TestSmuggledCallsAreDecidedAsTheServerReadsThem(t *testing.T) {
	l := newListener(t)
	p := start(t, `[[servers]]
id = "files"
url = "`+l.URL+`"
transport = "rpc"
[[acl]]
tool = "read"
action = "allow"
[[acl]]
tool = "*"
action = "deny"
[store]
url = "memory:"
`)
	passed := 0
	for _, path := range []string{"/api/mcp-gateway/files/rpc", "/mcp/files", "/mcp"} {
		for _, body := range smuggled() {
			if path == "/mcp" {
				body = strings.NewReplacer(`"read"`, `"files::read"`, `"write"`, `"files::write"`, `wr\u0069te`, `files::wr\u0069te`).Replace(body)
			}
			for _, headers := range [][]string{{"Accept", "application/json, text/event-stream"}, {"Content-Type", "application/json; charset=utf-16"}} {
				p.as(t, "", path, body, headers...)
			}
			for _, got := range l.take() {
				passed++
				for _, name := range readings(got, "params", "name") {
					if strings.Trim(name, "\x00") == "write" {
						t.Errorf("%s: %q reached the server, which reads write", path, got)
					}
				}
				for _, method := range readings(got, "method") {
					if method == "tools/call" && len(readings(got, "params", "name")) != 1 {
						t.Errorf("%s: %q reached the server, and can be read in more than one way", path, got)
					}
				}
			}
		}
	}
	if passed == 0 {
		t.Error("nothing passed, not even what may")
	}
}

// traversals are URIs that a server may read as outside of file:///srv/public/.
var traversals = []string{
	"file:///srv/public/../secret", "file:///srv/public/a/../../secret", "file:///srv/public/%2e%2e/secret", "file:///srv/public/%2E%2E%2Fsecret",
	"file:///srv/public/..%2fsecret", "file:///srv/public/.%2e/secret", "file:///srv/public/%252e%252e/secret", `file:///srv/public/..\secret`,
	"file:///srv/public/..%5csecret", "file:///srv/public/..;/secret", "file:///srv/public/./../secret", "file:///srv//public/..//secret",
	"file:///srv/secret", "FILE:///srv/secret", "file:/srv/secret", "file://localhost/srv/secret", "file://localhost./srv/secret", "file://localhost:80/srv/secret", "file:///SRV/public/../secret", "file:///srv/publicsecret",
	"file:///srv/public/%c0%ae%c0%ae/secret", "file:///srv/public/\uff0e\uff0e/secret", "file:///srv/public/%ef%bc%8e%ef%bc%8e/secret", "file:///srv/public/..\uff0fsecret", "file:///srv/public/\u2024\u2024/secret", "file:///srv/public/..\x00/secret", "file:///srv/public%2f..%2fsecret",
	"file:///srv/public/?/../../secret", "file:///srv/public/#/../../secret", "//srv/secret", "../secret", "/srv/secret",
	"file:///srv/public/%u002e%u002e/secret", "file:///srv/public/..%00/secret", "file:///srv/public/a%2f..%2f..%2fsecret", " file:///srv/secret", "file:///srv/./secret",
}

// Resource prefixes hold against URIs that climb openly or in disguise: what a server receives is
// below the prefix, however it is decoded.
func TestURIsThatClimbDoNotReachTheServer(t *testing.T) {
	l := newListener(t)
	p := start(t, `[[servers]]
id = "files"
url = "`+l.URL+`"
transport = "rpc"
[auth]
default = "deny"
[[acl]]
resource = "file:///srv/public/"
action = "allow"
[store]
url = "memory:"
`)
	for _, door := range []string{"/api/mcp-gateway/files/rpc", "/mcp/files"} {
		for _, uri := range append([]string{"file:///srv/public/a%20b.txt"}, traversals...) {
			quoted, err := json.Marshal(uri)
			if err != nil {
				t.Fatal(err)
			}
			for _, message := range []string{
				`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":` + string(quoted) + `}}`,
				`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":` + string(quoted) + `}}`,
				`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/resource","uri":` + string(quoted) + `},"argument":{"name":"a","value":""}}}`,
				`{"jsonrpc":"2.0","id":1,"method":"vendor/open","params":{"uri":` + string(quoted) + `}}`,
			} {
				p.as(t, "", door, message, "Accept", "application/json, text/event-stream")
			}
			got := l.take()
			for _, body := range got {
				for _, read := range append(readings(body, "params", "uri"), readings(body, "params", "ref", "uri")...) {
					if !liesBelow(read, "/srv/public/") {
						t.Errorf("%s: %q reached the server", door, read)
					}
				}
			}
			if uri == "file:///srv/public/a%20b.txt" && door == "/api/mcp-gateway/files/rpc" && len(got) == 0 {
				t.Error("what may be read is not")
			}
		}
	}
}

// liesBelow decodes a URI repeatedly, and checks where it leads.
func liesBelow(uri, prefix string) bool {
	at, ok := strings.CutPrefix(uri, "file://")
	if !ok {
		return false
	}
	at, _, _ = strings.Cut(at, "?")
	at, _, _ = strings.Cut(at, "#")
	for range 4 {
		decoded, err := url.PathUnescape(at)
		if err != nil {
			break
		}
		at = decoded
	}
	at = strings.NewReplacer(`\`, "/", ";", "", "\x00", "", "\u2024", ".", "\uff0e", ".", "\uff0f", "/").Replace(at)
	return strings.HasPrefix(path.Clean(at)+"/", prefix)
}

// A denied name reaches no server in any disguise: absent, in a list, beside an allowed one, or in
// a message without an id.
func TestDeniedNamesReachNoServerInAnyForm(t *testing.T) {
	l := newListener(t)
	p := start(t, `[[servers]]
id = "files"
url = "`+l.URL+`"
transport = "rpc"
[[acl]]
tool = "write"
action = "deny"
[[acl]]
prompt = "hidden"
action = "deny"
[[acl]]
resource = "file:///srv/"
action = "deny"
[[acl]]
tool = "read"
action = "redact"
fields = ["password"]
[store]
url = "memory:"
`)
	completion := func(ref string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":` + ref + `,"argument":{"name":"a","value":"b"}}}`
	}
	messages := []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["write",{}]}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":["write"]}}`,
		`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":["hidden"]}`, `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":["file:///srv/a"]}}`,
		completion(`{"type":"ref/prompt","name":"review","uri":"file:///srv/a"}`), completion(`{"type":"ref/resource","uri":"file:///pub/a","name":"hidden"}`),
		completion(`{"type":"ref/other","name":"hidden"}`), completion(`{"type":"ref/other","uri":"file:///srv/a"}`), completion(`["hidden","file:///srv/a"]`),
	}
	for _, path := range []string{"/api/mcp-gateway/files/rpc", "/mcp/files", "/mcp"} {
		for _, body := range messages {
			p.as(t, "", path, body, "Accept", "application/json, text/event-stream")
		}
	}
	notices := []string{
		`"tools/call","params":{"name":"write","arguments":{}}`, `"prompts/get","params":{"name":"hidden"}`, `"resources/read","params":{"uri":"file:///srv/a"}`,
		`"x/run","params":{"name":"write"}`, `"notifications/x","params":{"uri":"file:///srv/a"}`, `"tools/call","params":{"name":"read","arguments":{"password":"hunter2"}}`,
	}
	for _, path := range []string{"/mcp", "/mcp/files"} {
		c := httpClient(t, p, path, "2025-11-25")
		c.open()
		for _, n := range notices {
			c.post(`{"jsonrpc":"2.0","method":`+n+`}`, "", "")
		}
		// The aggregate routes it by its name.
		c.post(completion(`{"type":"ref/prompt","name":"files::review","uri":"file:///srv/a"}`), "", "")
		c.notify("notifications/end", "")
		eventually(t, time.Minute, "the last notification comes", func() bool {
			l.mu.Lock()
			defer l.mu.Unlock()
			return bytes.Contains(bytes.Join(l.got, nil), []byte("notifications/end"))
		})
		c.result("ping", "")
	}
	for _, n := range notices {
		p.as(t, "", "/api/mcp-gateway/files/rpc", `{"jsonrpc":"2.0","method":`+n+`}`)
	}
	for _, got := range l.take() {
		for _, name := range []string{"write", "hidden", "/srv/", "hunter2"} {
			if bytes.Contains(got, []byte(name)) {
				t.Errorf("%s reached the server", got)
			}
		}
	}
}
