package wire_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"secateur/internal/mcp/wire"
)

func TestAppendRewritten(t *testing.T) {
	for _, c := range []struct {
		rule, doc string
		rewrite   wire.Rewrite
		want      string
	}{
		{
			"the id alone, the rest byte for byte",
			`{ "jsonrpc" : "2.0" , "x":1.50e+3, "id" : 1 , "method":"\u006d","params":{"a":[ 1,2 ] , "id":1} }`,
			wire.Rewrite{ID: wire.StringID("n")},
			`{ "jsonrpc" : "2.0" , "x":1.50e+3, "id" : "n" , "method":"\u006d","params":{"a":[ 1,2 ] , "id":1} }`,
		},
		{
			"the id after everything else",
			`{"jsonrpc":"2.0","method":"m","params":{"_meta":{"progressToken":"t"}},"id":7}`,
			wire.Rewrite{ID: wire.NumberID(100), ProgressToken: wire.NumberID(5)},
			`{"jsonrpc":"2.0","method":"m","params":{"_meta":{"progressToken":5}},"id":100}`,
		},
		{
			"a notification gets no id",
			`{"jsonrpc":"2.0","method":"m"}`,
			wire.Rewrite{ID: wire.NumberID(1)},
			`{"jsonrpc":"2.0","method":"m"}`,
		},
		{
			"a message without a token gets none",
			`{"jsonrpc":"2.0","id":1,"method":"m","params":{"progressToken":1}}`,
			wire.Rewrite{ProgressToken: wire.NumberID(5)},
			`{"jsonrpc":"2.0","id":1,"method":"m","params":{"progressToken":1}}`,
		},
		{
			"the token of a progress notification",
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1,"progressToken":1}}`,
			wire.Rewrite{ProgressToken: wire.StringID("t")},
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1,"progressToken":"t"}}`,
		},
		{
			"the request of a cancellation",
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a","reason":"b"}}`,
			wire.Rewrite{RequestID: wire.NumberID(12)},
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":12,"reason":"b"}}`,
		},
		{
			"requestId of any other message",
			`{"jsonrpc":"2.0","id":1,"method":"m","params":{"requestId":"a"}}`,
			wire.Rewrite{RequestID: wire.NumberID(12)},
			`{"jsonrpc":"2.0","id":1,"method":"m","params":{"requestId":"a"}}`,
		},
		{
			"members without params",
			`{"jsonrpc":"2.0","id":1,"method":"m" }`,
			wire.Rewrite{Meta: []byte(`"a":1,"b":2`)},
			`{"jsonrpc":"2.0","id":1,"method":"m" ,"params":{"_meta":{"a":1,"b":2}}}`,
		},
		{
			"members without _meta",
			`{"jsonrpc":"2.0","id":1,"method":"m","params":{"x":1}}`,
			wire.Rewrite{ID: wire.NumberID(2), Meta: []byte(`"a":1`)},
			`{"jsonrpc":"2.0","id":2,"method":"m","params":{"x":1,"_meta":{"a":1}}}`,
		},
		{
			"members in empty params",
			`{"jsonrpc":"2.0","id":1,"method":"m","params":{ }}`,
			wire.Rewrite{Meta: []byte(`"a":1`)},
			`{"jsonrpc":"2.0","id":1,"method":"m","params":{ "_meta":{"a":1}}}`,
		},
		{
			"members in empty _meta",
			`{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{}}}`,
			wire.Rewrite{Meta: []byte(` "a" : 1 `)},
			`{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"a":1}}}`,
		},
		{
			"members beside others",
			`{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"x":[1, 2]}}}`,
			wire.Rewrite{Meta: []byte(`"a":1,"b":{"c":2}`)},
			`{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"x":[1, 2],"a":1,"b":{"c":2}}}}`,
		},
		{
			"a member in the place of its namesake",
			`{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"x":1,"\u0061" : {"old":true} ,"y":2}}}`,
			wire.Rewrite{Meta: []byte(`"b":2,"a":1`)},
			`{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"x":1,"\u0061" : 1 ,"y":2,"b":2}}}`,
		},
		{
			"a token beside new members",
			`{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"progressToken":1}}}`,
			wire.Rewrite{ProgressToken: wire.NumberID(9), Meta: []byte(`"a":1`)},
			`{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"progressToken":9,"a":1}}}`,
		},
		{
			"a token among the members wins",
			`{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"progressToken":1}}}`,
			wire.Rewrite{ProgressToken: wire.NumberID(9), Meta: []byte(`"progressToken":3`)},
			`{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"progressToken":3}}}`,
		},
		{
			"_meta that is no object gives way",
			`{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":null}}`,
			wire.Rewrite{Meta: []byte(`"a":1`)},
			`{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"a":1}}}`,
		},
		{
			"params that are an array stay",
			`{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}`,
			wire.Rewrite{Meta: []byte(`"a":1`)},
			`{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}`,
		},
	} {
		t.Run(c.rule, func(t *testing.T) {
			m, err := wire.ParseRequest([]byte(c.doc), wire.MaxRequestDepth)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(m.AppendRewritten([]byte("> "), c.rewrite)); got != "> "+c.want {
				t.Errorf("AppendRewritten = %s, want > %s", got, c.want)
			}
			if string(m.Raw) != c.doc {
				t.Errorf("Raw became %s", m.Raw)
			}
		})
	}
}

func TestAResponseGetsItsCallersID(t *testing.T) {
	for _, c := range []struct{ doc, want string }{
		{`{"jsonrpc":"2.0","id":17,"result":{"id":17}}`, `{"jsonrpc":"2.0","id":"a","result":{"id":17}}`},
		{`{"jsonrpc":"2.0","error":{"code":1,"message":""},"id":null}`, `{"jsonrpc":"2.0","error":{"code":1,"message":""},"id":"a"}`},
	} {
		m, err := wire.ParseServer([]byte(c.doc), 0)
		if err != nil {
			t.Fatal(err)
		}
		n := m.WithID(wire.StringID("a"))
		if string(n.Raw) != c.want || n.ID != wire.StringID("a") || string(m.Raw) != c.doc {
			t.Errorf("WithID = %s of %s, want %s", n.Raw, m.Raw, c.want)
		}
		result, failure := string(m.Result), string(m.Error)
		clear(m.Raw)
		if string(n.Result) != result || string(n.Error) != failure {
			t.Errorf("WithID has result %s and error %s", n.Result, n.Error)
		}
	}
}

func FuzzAppendWithMeta(f *testing.F) {
	for _, doc := range requests {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		m, refused := wire.ParseRequest(doc, 64)
		if refused != nil || m.Params != nil && m.Params[0] == '[' {
			return
		}
		out := m.AppendWithMeta(nil, []byte(`"progressToken":77,"secateur/test":{"a":"b"}`))
		n, refused := wire.ParseRequest(out, wire.MaxRequestDepth)
		if refused != nil {
			t.Fatalf("%s with members is %s: %v", doc, out, refused)
		}
		var meta map[string]json.RawMessage
		if err := json.Unmarshal(n.Meta(), &meta); err != nil || string(meta["progressToken"]) != "77" || string(meta["secateur/test"]) != `{"a":"b"}` {
			t.Fatalf("%s with members is %s", doc, out)
		}
		// Everything else is unchanged.
		var before, after map[string]any
		if json.Unmarshal(doc, &before) != nil || json.Unmarshal(out, &after) != nil {
			t.Fatalf("%s with members is %s", doc, out)
		}
		forget(before)
		forget(after)
		if !reflect.DeepEqual(before, after) {
			t.Errorf("%s with members is %s", doc, out)
		}
	})
}

// forget removes from a message what AppendWithMeta may add.
func forget(message map[string]any) {
	params, _ := message["params"].(map[string]any)
	meta, _ := params["_meta"].(map[string]any)
	delete(meta, "progressToken")
	delete(meta, "secateur/test")
	if len(meta) == 0 {
		delete(params, "_meta")
	}
	if len(params) == 0 {
		delete(message, "params")
	}
}
