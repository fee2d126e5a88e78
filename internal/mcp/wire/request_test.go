package wire_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"secateur/internal/mcp/wire"
	"secateur/internal/rawjson"
)

func TestParseRequest(t *testing.T) {
	for _, c := range []struct {
		rule, doc  string
		id, method string
		kind       wire.Kind
	}{
		{"a request", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `1`, "ping", wire.Request},
		{"a notification", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, `null`, "notifications/initialized", wire.Notification},
		{"members in any order", `{"params":{},"method":"m","id":"a","jsonrpc":"2.0"}`, `"a"`, "m", wire.Request},
		{"escaped names and values", `{"\u006asonrpc":"2\u002e0","i\u0064":1,"method":"\u006d"}`, `1`, "m", wire.Request},
		{"unknown members", `{"jsonrpc":"2.0","id":1,"method":"m","x":{"y":[1]}}`, `1`, "m", wire.Request},
		{"params that are an array", `{"jsonrpc":"2.0","id":1,"method":"m","params":[1,2]}`, `1`, "m", wire.Request},
		{"a large number as an id", `{"jsonrpc":"2.0","id":12345678901234567890,"method":"m"}`, `12345678901234567890`, "m", wire.Request},
		{"a fraction as an id", `{"jsonrpc":"2.0","id":1.5,"method":"m"}`, `1.5`, "m", wire.Request},
		{"the empty string as an id", `{"jsonrpc":"2.0","id":"","method":"m"}`, `""`, "m", wire.Request},
		{"a lone surrogate in an escape", `{"jsonrpc":"2.0","id":"\ud800","method":"m","params":{"a":"\udc00"}}`, `"\ud800"`, "m", wire.Request},
		{"params named like the envelope but for case", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"Name":"x","Method":1}}`, `1`, "m", wire.Request},
		{"the deepest that is allowed", `{"jsonrpc":"2.0","id":1,"method":"m","params":` + strings.Repeat("[", 127) + strings.Repeat("]", 127) + `}`, `1`, "m", wire.Request},
	} {
		t.Run(c.rule, func(t *testing.T) {
			m, err := wire.ParseRequest([]byte(" \n"+c.doc+"\r\n"), wire.MaxRequestDepth)
			if err != nil {
				t.Fatal(err)
			}
			if string(m.Raw) != c.doc || m.ID.String() != c.id || m.Method != c.method || m.Kind() != c.kind {
				t.Errorf("ParseRequest = %s %s %s %q, want %s %s %q", m.Kind(), m.ID, m.Method, m.Raw, c.kind, c.id, c.method)
			}
		})
	}
}

func TestParseRequestRefuses(t *testing.T) {
	for _, c := range []struct {
		rule, doc string
		code      int
		id        string
	}{
		{"nothing", ``, wire.CodeParse, `null`},
		{"white space", ` `, wire.CodeParse, `null`},
		{"broken JSON, whatever the id", `{"jsonrpc":"2.0","id":1,"method":`, wire.CodeParse, `null`},
		{"two documents", `{"jsonrpc":"2.0","id":1,"method":"m"}{}`, wire.CodeParse, `null`},
		{"a byte order mark", "\ufeff" + `{"jsonrpc":"2.0","id":1,"method":"m"}`, wire.CodeParse, `null`},
		{"a zero byte", "\x00", wire.CodeParse, `null`},
		{"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", wire.CodeParse, `null`},
		{"NaN", `{"jsonrpc":"2.0","id":1,"method":"m","params":[NaN]}`, wire.CodeParse, `null`},
		{"a broken array", `[{"jsonrpc":"2.0"}`, wire.CodeParse, `null`},
		{"a name twice, and broken behind it", `{"jsonrpc":"2.0","id":1,"id":1,"method":"m"`, wire.CodeParse, `null`},
		{"too deep, and broken behind it", `{"jsonrpc":"2.0","id":1,"params":` + strings.Repeat("[", 200), wire.CodeParse, `null`},
		{"far too deep", `{"jsonrpc":"2.0","id":1,"params":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, wire.CodeParse, `null`},
		{"a deep array that is broken", strings.Repeat("[", 200), wire.CodeParse, `null`},
		{"a deep batch", strings.Repeat("[", 200) + strings.Repeat("]", 200), wire.CodeInvalidRequest, `null`},
		{"a batch with a name twice", `[{"a":1,"a":2}]`, wire.CodeInvalidRequest, `null`},
		{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"m"}]`, wire.CodeInvalidRequest, `null`},
		{"an empty batch", `[]`, wire.CodeInvalidRequest, `null`},
		{"a string", `"x"`, wire.CodeInvalidRequest, `null`},
		{"no jsonrpc", `{"id":1,"method":"m"}`, wire.CodeInvalidRequest, `1`},
		{"another jsonrpc", `{"jsonrpc":"1.0","id":1,"method":"m"}`, wire.CodeInvalidRequest, `1`},
		{"jsonrpc as a number", `{"jsonrpc":2.0,"id":1,"method":"m"}`, wire.CodeInvalidRequest, `1`},
		{"no method", `{"jsonrpc":"2.0","id":"a"}`, wire.CodeInvalidRequest, `"a"`},
		{"an empty method", `{"jsonrpc":"2.0","id":1,"method":""}`, wire.CodeInvalidRequest, `1`},
		{"a method that is no string", `{"jsonrpc":"2.0","id":1,"method":1}`, wire.CodeInvalidRequest, `1`},
		{"id null", `{"jsonrpc":"2.0","id":null,"method":"m"}`, wire.CodeInvalidRequest, `null`},
		{"an id that is an object", `{"jsonrpc":"2.0","id":{},"method":"m"}`, wire.CodeInvalidRequest, `null`},
		{"an id that is a truth value", `{"jsonrpc":"2.0","id":true,"method":"m"}`, wire.CodeInvalidRequest, `null`},
		{"a result", `{"jsonrpc":"2.0","id":1,"result":{}}`, wire.CodeInvalidRequest, `1`},
		{"an error", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`, wire.CodeInvalidRequest, `1`},
		{"a method and a result", `{"jsonrpc":"2.0","id":1,"method":"m","result":null}`, wire.CodeInvalidRequest, `1`},
		{"params that are a string", `{"jsonrpc":"2.0","id":1,"method":"m","params":"x"}`, wire.CodeInvalidRequest, `1`},
		{"params that are null", `{"jsonrpc":"2.0","id":1,"method":"m","params":null}`, wire.CodeInvalidRequest, `1`},
		{"a method in capitals", `{"jsonrpc":"2.0","id":1,"Method":"m"}`, wire.CodeInvalidRequest, `1`},
		{"two methods to a reader who does not mind case", `{"jsonrpc":"2.0","id":1,"method":"m","Method":"n"}`, wire.CodeInvalidRequest, `1`},
		{"a long s for an s", `{"jsonrpc":"2.0","id":1,"method":"m","paramſ":{}}`, wire.CodeInvalidRequest, `1`},
		{"two tools to a reader who does not mind case", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","Name":"b"}}`, wire.CodeInvalidRequest, `1`},
		{"a name twice", `{"jsonrpc":"2.0","method":"m","method":"n","id":1}`, wire.CodeInvalidRequest, `1`},
		{"a name twice, once escaped", `{"jsonrpc":"2.0","method":"m","m\u0065thod":"n","id":1}`, wire.CodeInvalidRequest, `1`},
		{"a name twice deep in the params", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[{"b":1,"b":2}]}}`, wire.CodeInvalidRequest, `1`},
		{"a name twice in params", `{"jsonrpc":"2.0","method":"m","params":{"a":1,"a":1},"id":7}`, wire.CodeInvalidRequest, `7`},
		{"a name twice in _meta", `{"jsonrpc":"2.0","method":"m","params":{"_meta":{"a":1,"a":1}},"id":7}`, wire.CodeInvalidRequest, `7`},
		{"two ids", `{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}`, wire.CodeInvalidRequest, `null`},
		{"too deep", `{"jsonrpc":"2.0","method":"m","params":` + strings.Repeat("[", 128) + strings.Repeat("]", 128) + `,"id":"z"}`, wire.CodeInvalidRequest, `"z"`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			m, err := wire.ParseRequest([]byte(c.doc), wire.MaxRequestDepth)
			if err == nil {
				t.Fatalf("ParseRequest(%.80s) = nil, want %d", c.doc, c.code)
			}
			if err.Code != c.code || m.ID.String() != c.id {
				t.Errorf("ParseRequest(%.80s) = id %s, %d %s, want id %s, %d", c.doc, m.ID, err.Code, err, c.id, c.code)
			}
			word := map[int]string{wire.CodeParse: wire.WordParse, wire.CodeInvalidRequest: wire.WordInvalidRequest}[c.code]
			if err.Data.Code != word || err.Message == "" {
				t.Errorf("error says %q, data.code %q, want %q", err.Message, err.Data.Code, word)
			}
		})
	}
}

func TestParamsAreFound(t *testing.T) {
	m, err := wire.ParseRequest([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"n\u0061me":"get","_meta":{"x":1,"progressToken":"tok"},"arguments":{"name":"no","uri":"no"},"uri":"file:///a","requestId":9,"progressToken":5}}`), wire.MaxRequestDepth)
	if err != nil {
		t.Fatal(err)
	}
	if m.Name != "get" || m.URI != "file:///a" {
		t.Errorf("Name = %q, URI = %q", m.Name, m.URI)
	}
	if got := string(m.ProgressToken()); got != `"tok"` {
		t.Errorf("ProgressToken() = %s", got)
	}
	if got := string(m.Meta()); got != `{"x":1,"progressToken":"tok"}` {
		t.Errorf("Meta() = %s", got)
	}
	if !m.RequestID().IsZero() {
		t.Errorf("RequestID() = %s of a request", m.RequestID())
	}
	for _, c := range []struct{ rule, doc, token, request string }{
		{"progress", `{"jsonrpc":"2.0","params":{"progressToken":5,"_meta":{"progressToken":6}},"method":"notifications/progress"}`, `5`, `null`},
		{"cancelled", `{"jsonrpc":"2.0","params":{"requestId":"a"},"method":"notifications/cancelled"}`, ``, `"a"`},
		{"a token of the wrong type", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"progressToken":null}}}`, ``, `null`},
		{"_meta of the wrong type", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":[]}}`, ``, `null`},
		{"a name of the wrong type", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"name":1}}`, ``, `null`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			m, err := wire.ParseRequest([]byte(c.doc), wire.MaxRequestDepth)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(m.ProgressToken()); got != c.token {
				t.Errorf("ProgressToken() = %s, want %s", got, c.token)
			}
			if got := m.RequestID().String(); got != c.request {
				t.Errorf("RequestID() = %s, want %s", got, c.request)
			}
			if m.Name != "" {
				t.Errorf("Name = %q", m.Name)
			}
		})
	}
}

// requests are seeds for the fuzz targets.
var requests = []string{
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":[1,2.50,"é\n\ud83d\ude00"]},"_meta":{"progressToken":"t","a":1}}}`,
	`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
	`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"_meta":{}}}`,
	` { "params" : [ ] , "id" : "\u0061" , "jsonrpc" : "2.0" , "method" : "m" } `,
	`{"jsonrpc":"2.0","id":null,"method":"m"}`, `[]`, `{"id":1,"id":2}`, `{"a":{"b":1,"\u0062":2}}`, `{"jsonrpc":"2.0"`,
}

func FuzzParseRequest(f *testing.F) {
	for _, doc := range requests {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		m, refused := wire.ParseRequest(doc, wire.MaxRequestDepth)
		if refused != nil {
			if rawjson.Check(doc, wire.MaxResultDepth) == nil != (refused.Code == wire.CodeInvalidRequest) {
				t.Errorf("ParseRequest(%q) = %d %s", doc, refused.Code, refused)
			}
			return
		}
		if !bytes.Equal(m.Raw, bytes.Trim(doc, " \t\r\n")) {
			t.Errorf("ParseRequest(%q).Raw = %q", doc, m.Raw)
		}
		if m.Kind() == wire.Response || m.Method == "" {
			t.Errorf("ParseRequest(%q) is a %s", doc, m.Kind())
		}
		if !utf8.Valid(doc) {
			t.Errorf("ParseRequest(%q) accepts invalid UTF-8", doc)
		}
		strict := jsontext.Value(doc)
		if !strict.IsValid(jsontext.AllowInvalidUTF8(true)) && !strings.Contains(strings.ToLower(string(doc)), `\ud`) {
			t.Errorf("ParseRequest(%q) accepts what jsontext refuses", doc)
		}
		testRewriting(t, &m)
	})
}

// testRewriting checks that replaced values can be restored and that nothing else changes.
func testRewriting(t *testing.T, m *wire.Message) {
	t.Helper()
	there := wire.Rewrite{ID: wire.StringID("other id"), ProgressToken: wire.NumberID(123456789), RequestID: wire.StringID("r")}
	back := wire.Rewrite{ID: m.ID, ProgressToken: wire.IDOf(m.ProgressToken()), RequestID: m.RequestID()}
	out := m.AppendRewritten(nil, there)
	n, err := wire.ParseRequest(out, wire.MaxRequestDepth)
	if err != nil {
		t.Fatalf("%s rewritten as %s: %v", m.Raw, out, err)
	}
	if n.Method != m.Method || n.Name != m.Name || n.URI != m.URI || n.Kind() != m.Kind() {
		t.Errorf("%s rewritten as %s", m.Raw, out)
	}
	if !m.ID.IsZero() && n.ID != there.ID || m.ProgressToken() != nil && string(n.ProgressToken()) != "123456789" ||
		!m.RequestID().IsZero() && n.RequestID() != there.RequestID {
		t.Errorf("%s rewritten as %s", m.Raw, out)
	}
	if got := n.AppendRewritten(nil, back); !bytes.Equal(got, m.Raw) {
		t.Errorf("%s rewritten and back is %s", m.Raw, got)
	}
	moved := m.WithID(there.ID)
	if want, err := wire.ParseRequest(m.AppendWithID(nil, there.ID), wire.MaxRequestDepth); err != nil || !sameMessage(&moved, &want) {
		t.Errorf("%s WithID is %s, parsed %v", m.Raw, moved.Raw, err)
	}
}

func sameMessage(a, b *wire.Message) bool {
	return bytes.Equal(a.Raw, b.Raw) && a.ID == b.ID && a.Method == b.Method && bytes.Equal(a.Params, b.Params) &&
		bytes.Equal(a.Result, b.Result) && bytes.Equal(a.Error, b.Error) && bytes.Equal(a.Meta(), b.Meta()) &&
		bytes.Equal(a.ProgressToken(), b.ProgressToken()) && a.RequestID() == b.RequestID()
}

// A parser that ends strings at a zero byte or ignores invisible characters would read another
// method.
func TestNamesThatLookLikeTheEnvelopesAreRefused(t *testing.T) {
	for _, name := range []string{`method\u0000`, `method\u0000x`, `\u200bmethod`, `method `, `Method\u0000`, `params\u0000`, `id\u0000`, `me\u00adthod`} {
		doc := `{"jsonrpc":"2.0","id":1,"method":"ping","` + name + `":"tools/call"}`
		if _, bad := wire.ParseRequest([]byte(doc), wire.MaxRequestDepth); bad == nil || bad.Code != wire.CodeInvalidRequest {
			t.Errorf("%s: %v, want it refused", doc, bad)
		}
	}
	if _, bad := wire.ParseRequest([]byte(`{"jsonrpc":"2.0","id":1,"method":"ping","x\u0000":1,"methods":2}`), wire.MaxRequestDepth); bad != nil {
		t.Errorf("names that look like nothing of ours: %v", bad)
	}
}
