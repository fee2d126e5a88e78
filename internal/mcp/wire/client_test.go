package wire_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"secateur/internal/mcp/wire"
)

func TestParseClient(t *testing.T) {
	for _, c := range []struct {
		rule, doc, id, result, err string
		kind                       wire.Kind
	}{
		{"a request", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `1`, ``, ``, wire.Request},
		{"a notification", `{"jsonrpc":"2.0","method":"n"}`, `null`, ``, ``, wire.Notification},
		{"a result", `{"jsonrpc":"2.0","id":1,"result":{"a":1}}`, `1`, `{"a":1}`, ``, wire.Response},
		{"a result that is null", `{"jsonrpc":"2.0","id":"x","result":null}`, `"x"`, `null`, ``, wire.Response},
		{"an error", `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m"}}`, `1`, ``, `{"code":-1,"message":"m"}`, wire.Response},
		{"an error that answers nothing in particular", `{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"m"}}`, `null`, ``, `{"code":-1,"message":"m"}`, wire.Response},
		{"a result beside an error that is null", `{"jsonrpc":"2.0","id":1,"error":null,"result":{}}`, `1`, `{}`, ``, wire.Response},
		{"an error beside a result that is null", `{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1,"message":""}}`, `1`, ``, `{"code":1,"message":""}`, wire.Response},
	} {
		t.Run(c.rule, func(t *testing.T) {
			m, err := wire.ParseClient([]byte(" "+c.doc+"\n"), wire.MaxRequestDepth)
			if err != nil {
				t.Fatal(err)
			}
			if m.Kind() != c.kind || m.ID.String() != c.id || string(m.Result) != c.result || string(m.Error) != c.err || string(m.Raw) != c.doc {
				t.Errorf("ParseClient(%s) = %s %s with %s and %s", c.doc, m.Kind(), m.ID, m.Result, m.Error)
			}
		})
	}
}

func TestParseClientRefuses(t *testing.T) {
	for _, c := range []struct {
		rule, doc string
		code      int
		id        string
	}{
		{"broken JSON", `{"jsonrpc":"2.0","id":1,"result":`, wire.CodeParse, `null`},
		{"a batch", `[{"jsonrpc":"2.0","id":1,"result":{}}]`, wire.CodeInvalidRequest, `null`},
		{"a name twice, deep in a result", `{"jsonrpc":"2.0","id":1,"result":{"a":{"b":1,"\u0062":2}}}`, wire.CodeInvalidRequest, `1`},
		{"a result that is too deep", `{"jsonrpc":"2.0","id":1,"result":` + strings.Repeat("[", 128) + strings.Repeat("]", 128) + `}`, wire.CodeInvalidRequest, `1`},
		{"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"\xff\"}", wire.CodeParse, `null`},
		{"a name of the envelope but for case", `{"jsonrpc":"2.0","id":1,"Result":{},"result":{}}`, wire.CodeInvalidRequest, `1`},
		{"another version", `{"jsonrpc":"1.0","id":1,"result":{}}`, wire.CodeInvalidRequest, `1`},
		{"a result without an id", `{"jsonrpc":"2.0","result":{}}`, wire.CodeInvalidRequest, `null`},
		{"a result whose id is null", `{"jsonrpc":"2.0","id":null,"result":{}}`, wire.CodeInvalidRequest, `null`},
		{"a result and an error", `{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}`, wire.CodeInvalidRequest, `1`},
		{"a result and a method", `{"jsonrpc":"2.0","id":1,"method":"m","result":{}}`, wire.CodeInvalidRequest, `1`},
		{"a method and an error that is null", `{"jsonrpc":"2.0","id":1,"method":"m","error":null}`, wire.CodeInvalidRequest, `1`},
		{"nothing to say", `{"jsonrpc":"2.0","id":1}`, wire.CodeInvalidRequest, `1`},
		{"an error that is no object", `{"jsonrpc":"2.0","id":1,"error":"x"}`, wire.CodeInvalidRequest, `1`},
		{"an error without a code", `{"jsonrpc":"2.0","id":1,"error":{"message":"m"}}`, wire.CodeInvalidRequest, `1`},
		{"an error whose code is no integer", `{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":"m"}}`, wire.CodeInvalidRequest, `1`},
		{"an error without a message", `{"jsonrpc":"2.0","id":1,"error":{"code":1}}`, wire.CodeInvalidRequest, `1`},
		{"an id of another kind", `{"jsonrpc":"2.0","id":[1],"error":{"code":1,"message":""}}`, wire.CodeInvalidRequest, `null`},
		{"params of another kind", `{"jsonrpc":"2.0","id":1,"method":"m","params":null}`, wire.CodeInvalidRequest, `1`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			m, err := wire.ParseClient([]byte(c.doc), wire.MaxRequestDepth)
			if err == nil || err.Code != c.code || m.ID.String() != c.id || m.Raw != nil {
				t.Errorf("ParseClient(%s) = %s, %v, want id %s and code %d", c.doc, m.ID, err, c.id, c.code)
			}
		})
	}
}

func TestParseBatch(t *testing.T) {
	for _, c := range []struct {
		rule, doc, want string
		code            int
	}{
		{"messages, as they came", " [ {\"a\" : 1} ,\n{\"b\":[1,2]},\"x\\\"]\" ] ", `{"a" : 1}|{"b":[1,2]}|"x\"]"`, 0},
		{"one", `[{}]`, `{}`, 0},
		{"as many as may be", `[1,2,3]`, `1|2|3`, 0},
		{"more", `[1,2,3,4]`, ``, wire.CodeInvalidRequest},
		{"none", `[ ]`, ``, wire.CodeInvalidRequest},
		{"no array", `{"a":1}`, ``, wire.CodeInvalidRequest},
		{"as deep as may be", `[[[[[]]]]]`, `[[[[]]]]`, 0},
		{"deeper", `[[[[[[]]]]]]`, ``, wire.CodeInvalidRequest},
		{"broken JSON", `[1,`, ``, wire.CodeParse},
		{"a comma too many", `[1,]`, ``, wire.CodeParse},
		{"two arrays", `[1][2]`, ``, wire.CodeParse},
		{"nothing", ` `, ``, wire.CodeParse},
		{"a byte order mark", "\ufeff[1]", ``, wire.CodeParse},
	} {
		t.Run(c.rule, func(t *testing.T) {
			elements, err := wire.ParseBatch([]byte(c.doc), 4, 3)
			var got []string
			for _, e := range elements {
				got = append(got, string(e))
			}
			if strings.Join(got, "|") != c.want || (err != nil) != (c.code != 0) || err != nil && err.Code != c.code {
				t.Errorf("ParseBatch(%s) = %q, %v, want %q, %d", c.doc, got, err, c.want, c.code)
			}
		})
	}
}

func FuzzParseBatch(f *testing.F) {
	f.Add([]byte(`[{"jsonrpc":"2.0","id":1,"method":"m"}, {"jsonrpc":"2.0","method":"n"}]`))
	f.Add([]byte(`[1,"]",[[]]]`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		elements, err := wire.ParseBatch(doc, 50, 10)
		var want []json.RawMessage
		if json.Unmarshal(doc, &want) != nil || err != nil {
			return
		}
		if fmt.Sprintf("%s", elements) != fmt.Sprintf("%s", want) {
			t.Errorf("ParseBatch(%q) = %q, want %q", doc, elements, want)
		}
	})
}
