package wire_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"secateur/internal/mcp/wire"
)

func TestParseServer(t *testing.T) {
	for _, c := range []struct {
		rule, doc string
		kind      wire.Kind
		id        string
	}{
		{"a result", `{"jsonrpc":"2.0","id":1,"result":{}}`, wire.Response, `1`},
		{"a result that is null", `{"jsonrpc":"2.0","id":1,"result":null}`, wire.Response, `1`},
		{"a result before the id", `{"result":[],"id":"a","jsonrpc":"2.0"}`, wire.Response, `"a"`},
		{"an error", `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}`, wire.Response, `1`},
		{"an error with data and more", `{"jsonrpc":"2.0","id":1,"error":{"data":[1],"x":1,"message":"no","code":1}}`, wire.Response, `1`},
		{"an error for nobody", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}`, wire.Response, `null`},
		{"an error without an id", `{"jsonrpc":"2.0","error":{"code":-32700,"message":"no"}}`, wire.Response, `null`},
		{"a result beside an error that is null", `{"jsonrpc":"2.0","id":1,"result":{"a":1},"error":null}`, wire.Response, `1`},
		{"an error beside a result that is null", `{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1,"message":""}}`, wire.Response, `1`},
		{"params that are null", `{"jsonrpc":"2.0","method":"notifications/x","params":null}`, wire.Notification, `null`},
		{"a request", `{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{}}`, wire.Request, `1`},
		{"a notification", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1}}`, wire.Notification, `null`},
		{"duplicate names in the result", `{"jsonrpc":"2.0","id":1,"result":{"a":1,"a":2,"b":{"c":1,"c":1}}}`, wire.Response, `1`},
		{"duplicate names in error.data", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"","data":{"a":1,"a":1}}}`, wire.Response, `1`},
		{"lone surrogates", `{"jsonrpc":"2.0","id":1,"result":"\ud800"}`, wire.Response, `1`},
		{"unknown members", `{"jsonrpc":"2.0","id":1,"result":1,"Result":2,"x":{"a":1,"a":1}}`, wire.Response, `1`},
		{"a deep result", `{"jsonrpc":"2.0","id":1,"result":` + strings.Repeat("[", 9999) + strings.Repeat("]", 9999) + `}`, wire.Response, `1`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			m, err := wire.ParseServer([]byte(c.doc+"\n"), 10)
			if err != nil {
				t.Fatal(err)
			}
			if m.Kind() != c.kind || m.ID.String() != c.id || string(m.Raw) != c.doc {
				t.Errorf("ParseServer = %s %s, want %s %s", m.Kind(), m.ID, c.kind, c.id)
			}
		})
	}
}

func TestNullsAreNotThere(t *testing.T) {
	m, err := wire.ParseServer([]byte(`{"jsonrpc":"2.0","id":1,"result":{"a":1},"error":null}`), 0)
	if err != nil || string(m.Result) != `{"a":1}` || m.Error != nil {
		t.Errorf("result %s, error %s, %v", m.Result, m.Error, err)
	}
	m, err = wire.ParseServer([]byte(`{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1,"message":""}}`), 0)
	if err != nil || m.Result != nil || m.Error == nil {
		t.Errorf("result %s, error %s, %v", m.Result, m.Error, err)
	}
}

func TestParseServerRefuses(t *testing.T) {
	for _, c := range []struct{ rule, doc, id string }{
		{"nothing", ``, `null`},
		{"noise", `Server listening on stdio`, `null`},
		{"an array", `[{"jsonrpc":"2.0","id":1,"result":1}]`, `null`},
		{"no jsonrpc", `{"id":1,"result":1}`, `1`},
		{"another jsonrpc", `{"jsonrpc":"1.0","id":1,"result":1}`, `1`},
		{"neither result nor error", `{"jsonrpc":"2.0","id":1}`, `1`},
		{"result and error", `{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":""}}`, `1`},
		{"an id twice", `{"jsonrpc":"2.0","id":1,"id":1,"result":1}`, `null`},
		{"a result twice", `{"jsonrpc":"2.0","result":1,"result":1,"id":1}`, `1`},
		{"a result for nobody", `{"jsonrpc":"2.0","id":null,"result":1}`, `null`},
		{"a result without an id", `{"jsonrpc":"2.0","result":1}`, `null`},
		{"an id that is an array", `{"jsonrpc":"2.0","id":[1],"error":{"code":1,"message":""}}`, `null`},
		{"an error that is a string", `{"jsonrpc":"2.0","id":1,"error":"x"}`, `1`},
		{"an error that is null", `{"jsonrpc":"2.0","id":1,"error":null}`, `1`},
		{"a code that is no integer", `{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":""}}`, `1`},
		{"a code that is a string", `{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":""}}`, `1`},
		{"no code", `{"jsonrpc":"2.0","id":1,"error":{"message":""}}`, `1`},
		{"no message", `{"jsonrpc":"2.0","id":1,"error":{"code":1}}`, `1`},
		{"a message that is no string", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":null}}`, `1`},
		{"a code twice", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"code":2,"message":""}}`, `1`},
		{"a broken result before the id", `{"jsonrpc":"2.0","result":{"a":tru},"id":"x"}`, `"x"`},
		{"a result cut short", `{"jsonrpc":"2.0","id":1,"result":{"a":"`, `1`},
		{"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"\xff\"}", `1`},
		{"a result too deep", `{"jsonrpc":"2.0","id":1,"result":` + strings.Repeat("[", 10000) + strings.Repeat("]", 10000) + `}`, `1`},
		{"two documents", `{"jsonrpc":"2.0","id":1,"result":1}{}`, `1`},
		{"a request with a result", `{"jsonrpc":"2.0","id":1,"method":"m","result":1}`, `null`},
		{"a request for nobody", `{"jsonrpc":"2.0","id":null,"method":"m"}`, `null`},
		{"a request with wrong params", `{"jsonrpc":"2.0","id":1,"method":"m","params":1}`, `null`},
		{"a method that is a number", `{"jsonrpc":"2.0","id":1,"method":1}`, `null`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			m, err := wire.ParseServer([]byte(c.doc), 0)
			if err == nil || m.ID.String() != c.id || m.Raw != nil {
				t.Errorf("ParseServer(%.80s) = id %s, %v, want id %s and an error", c.doc, m.ID, err, c.id)
			}
		})
	}
}

func TestLongStringsAreNoted(t *testing.T) {
	const long = "0123456789a"
	for _, c := range []struct {
		rule, doc string
		want      []string
	}{
		{"in result", `{"jsonrpc":"2.0","id":1,"result":{"a":["` + long + `"],"` + long + `":"short"}}`, []string{long}},
		{"result itself", `{"jsonrpc":"2.0","id":1,"result":"` + long + `"}`, []string{long}},
		{"no longer than asked", `{"jsonrpc":"2.0","id":1,"result":"0123456789"}`, nil},
		{"in error.data", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m","data":{"x":"` + long + `"}}}`, []string{long}},
		{"error.data itself", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m","data":"` + long + `"}}`, []string{long}},
		{"never in error.message", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"` + long + `","x":"` + long + `"}}`, nil},
		{"never in id", `{"jsonrpc":"2.0","id":"` + long + `","result":1}`, nil},
		{"never in unknown members", `{"jsonrpc":"2.0","id":1,"result":1,"x":"` + long + `"}`, nil},
		{"never in params", `{"jsonrpc":"2.0","id":1,"method":"` + long + `","params":{"x":"` + long + `"}}`, nil},
	} {
		t.Run(c.rule, func(t *testing.T) {
			for _, id := range []string{"", `"another, longer id"`, "1"} {
				m, err := wire.ParseServer([]byte("  "+c.doc), 10)
				if err != nil {
					t.Fatal(err)
				}
				if id != "" {
					m = m.WithID(wire.IDOf([]byte(id)))
				}
				var got []string
				for _, s := range m.Long {
					got = append(got, string(m.Raw[s.Start+1:s.End-1]))
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("Long = %q, want %q", got, c.want)
				}
			}
		})
	}
}

func FuzzParseServer(f *testing.F) {
	for _, doc := range requests {
		f.Add([]byte(doc))
	}
	for _, doc := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"0123456789abcdef"}]}}`,
		`{"jsonrpc":"2.0","id":"x","error":{"code":-1,"message":"m","data":["0123456789abcdef"]}}`,
	} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		m, err := wire.ParseServer(doc, 8)
		if err != nil {
			return
		}
		if !json.Valid(doc) {
			t.Errorf("ParseServer(%q) accepts what is no JSON", doc)
		}
		for _, s := range m.Long {
			if s.Start < 0 || s.End > len(m.Raw) || m.Raw[s.Start] != '"' || m.Raw[s.End-1] != '"' || s.Chars <= 8 {
				t.Errorf("ParseServer(%q).Long has %v", doc, s)
			}
		}
		moved := m.WithID(wire.StringID("a longer id"))
		want, err := wire.ParseServer(m.AppendWithID(nil, wire.StringID("a longer id")), 8)
		if err != nil || !sameMessage(&moved, &want) || !slices.Equal(moved.Long, want.Long) {
			t.Errorf("ParseServer(%q).WithID is %s, %v; parsed %s, %v: %v", doc, moved.Raw, moved.Long, want.Raw, want.Long, err)
		}
	})
}
