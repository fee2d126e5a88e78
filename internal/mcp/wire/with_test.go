package wire_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"secateur/internal/mcp/wire"
	"secateur/internal/rawjson"
)

func parsed(t *testing.T, doc string) wire.Message {
	t.Helper()
	m, err := wire.ParseClient([]byte(doc), wire.MaxRequestDepth)
	if err != nil {
		t.Fatalf("%s: %v", doc, err)
	}
	return m
}

func TestWithParams(t *testing.T) {
	for _, c := range []struct{ rule, doc, params, want string }{
		{"replaced", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"name":"a"}}`, `{"name":"bb","uri":"u"}`, `{"jsonrpc":"2.0","id":1,"method":"m","params":{"name":"bb","uri":"u"}}`},
		{"replaced before the rest", `{"params" : {"a":1} , "id":1,"x":12345678901234567890, "method":"m","jsonrpc":"2.0"}`, `{}`, `{"params" : {} , "id":1,"x":12345678901234567890, "method":"m","jsonrpc":"2.0"}`},
		{"made", `{"jsonrpc":"2.0","method":"m","id":1}`, `{"a":1}`, `{"jsonrpc":"2.0","method":"m","id":1,"params":{"a":1}}`},
		{"made behind white space", `{"jsonrpc":"2.0","method":"m", "id":1 }`, `{"a":1}`, `{"jsonrpc":"2.0","method":"m", "id":1 ,"params":{"a":1}}`},
		{"white space around them is left out", `{"jsonrpc":"2.0","method":"m"}`, " {\"a\": 1}\n", `{"jsonrpc":"2.0","method":"m","params":{"a": 1}}`},
		{"an array", `{"jsonrpc":"2.0","method":"m","params":{"name":"a"}}`, `[1]`, `{"jsonrpc":"2.0","method":"m","params":[1]}`},
		{"taken away", `{"jsonrpc":"2.0", "params":{"name":"a"} ,"method":"m"}`, ``, `{"jsonrpc":"2.0" ,"method":"m"}`},
		{"taken away from the start", `{"params":{"name":"a"}, "jsonrpc":"2.0","method":"m"}`, ``, `{"jsonrpc":"2.0","method":"m"}`},
		{"taken away from the end", `{"jsonrpc":"2.0","method":"m","p\u0061rams":{"name":"a"}}`, ``, `{"jsonrpc":"2.0","method":"m"}`},
		{"nothing to take away", `{"jsonrpc":"2.0","method":"m"}`, ``, `{"jsonrpc":"2.0","method":"m"}`},
		{"a response stays", `{"jsonrpc":"2.0","id":1,"result":{}}`, `{"a":1}`, `{"jsonrpc":"2.0","id":1,"result":{}}`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			m := parsed(t, c.doc)
			checkSame(t, m.WithParams([]byte(c.params)), c.want, parseClient)
			if string(m.Raw) != c.doc {
				t.Errorf("the message became %s", m.Raw)
			}
		})
	}
}

// parseClient and parseServer parse a message again for comparison.
func parseClient(doc []byte) (wire.Message, error) {
	m, err := wire.ParseClient(doc, wire.MaxRequestDepth)
	if err != nil {
		return m, err
	}
	return m, nil
}

func parseServer(doc []byte) (wire.Message, error) { return wire.ParseServer(doc, 0) }

// checkSame checks that a message equals the one parsed from its document.
func checkSame(t failer, m wire.Message, want string, parse func([]byte) (wire.Message, error)) {
	t.Helper()
	if string(m.Raw) != want {
		t.Fatalf("the message is %s\nwant %s", m.Raw, want)
	}
	again, err := parse(bytes.Clone(m.Raw))
	if err != nil {
		t.Fatalf("%s: %v", m.Raw, err)
	}
	if !sameMessage(&m, &again) || m.Name != again.Name || m.URI != again.URI || m.Task != again.Task || !wire.SameSpans(&m, &again) {
		t.Fatalf("%s is %+v\nparsed it is %+v", m.Raw, m, again)
	}
}

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func TestNullParamsOfAServer(t *testing.T) {
	const doc = `{"jsonrpc":"2.0","params":null,"method":"notifications/x"}`
	m, err := wire.ParseServer([]byte(doc), 0)
	if err != nil {
		t.Fatal(err)
	}
	checkSame(t, m.WithParams([]byte(`{"uri":"u"}`)), `{"jsonrpc":"2.0","params":{"uri":"u"},"method":"notifications/x"}`, parseServer)
	checkSame(t, m.WithParams(nil), `{"jsonrpc":"2.0","method":"notifications/x"}`, parseServer)
	if got, want := string(m.AppendWithMeta(nil, []byte(`"a":1`))), `{"jsonrpc":"2.0","params":{"_meta":{"a":1}},"method":"notifications/x"}`; got != want {
		t.Errorf("AppendWithMeta = %s, want %s", got, want)
	}
}

func TestWithResultAndError(t *testing.T) {
	const ok, failed = `{"jsonrpc":"2.0", "result" : {"text":"long enough"} ,"id":7}`, `{"jsonrpc":"2.0","id":7,"error":{"code":-32002,"message":"m","data":{"uri":"long enough"}},"result":null}`
	m, err := wire.ParseServer([]byte(ok), 5)
	if err != nil || len(m.Long) != 1 {
		t.Fatalf("%+v, %v", m, err)
	}
	got := m.WithResult([]byte(` {"a":1} `))
	checkSame(t, got, `{"jsonrpc":"2.0", "result" : {"a":1} ,"id":7}`, parseServer)
	if got.Long != nil || len(m.Long) != 1 {
		t.Errorf("long strings: %v, of the original %v", got.Long, m.Long)
	}
	checkSame(t, m.WithError([]byte(`{}`)), ok, parseServer)
	if m.ErrorCode() != 0 || m.ErrorData() != nil {
		t.Errorf("a result has error %d, %s", m.ErrorCode(), m.ErrorData())
	}

	m, err = wire.ParseServer([]byte(failed), 5)
	if err != nil || m.ErrorCode() != -32002 || string(m.ErrorData()) != `{"uri":"long enough"}` {
		t.Fatalf("%+v, %v: %d %s", m, err, m.ErrorCode(), m.ErrorData())
	}
	checkSame(t, m.WithError([]byte(`{"code":1,"message":""}`)), `{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":""},"result":null}`, parseServer)
	checkSame(t, m.WithResult([]byte(`{}`)), failed, parseServer)
}

func TestProxyToken(t *testing.T) {
	const before, after = `{"jsonrpc":"2.0","id":1,"method":"m","params":`, `}`
	for _, c := range []struct{ rule, params, token, want string }{
		{"alone", `{"proxy":{"authToken":"secret"}}`, "secret", `{}`},
		{"beside the server's", `{"name":"n", "proxy":{"authToken":"s\u0065cret"} ,"arguments":{"n":12345678901234567890}}`, "secret", `{"name":"n" ,"arguments":{"n":12345678901234567890}}`},
		{"first", `{"proxy":{"authToken":"t"}, "name":"n"}`, "t", `{"name":"n"}`},
		{"last", `{"name":"n" , "proxy":{"authToken":"t"}}`, "t", `{"name":"n"}`},
		{"what else is in proxy stays", `{"proxy":{"a":1, "authToken":"t" , "b":2},"name":"n"}`, "t", `{"proxy":{"a":1 , "b":2},"name":"n"}`},
		{"first in proxy", `{"proxy":{"authToken":"t" , "b":2}}`, "t", `{"proxy":{"b":2}}`},
		{"escaped names", `{"pr\u006fxy":{"auth\u0054oken":"t"},"name":"n"}`, "t", `{"name":"n"}`},
		{"an empty one", `{"proxy":{"authToken":""}}`, "", `{}`},
		{"one that is no string goes all the same", `{"proxy":{"authToken":{"a":"secret"}},"name":"n"}`, "-", `{"name":"n"}`},
		{"none in proxy", `{"proxy":{"x":1}}`, "-", ""},
		{"an empty proxy stays", `{"proxy":{}}`, "-", ""},
		{"a proxy that is no object", `{"proxy":"authToken"}`, "-", ""},
		{"a token elsewhere", `{"authToken":"t","arguments":{"proxy":{"authToken":"t"}}}`, "-", ""},
		{"names in other cases", `{"Proxy":{"authToken":"t"},"proxy":{"authtoken":"t"}}`, "-", ""},
		{"params that are an array", `["proxy"]`, "-", ""},
	} {
		t.Run(c.rule, func(t *testing.T) {
			m := parsed(t, before+c.params+after)
			token, ok := m.ProxyToken()
			if ok != (c.token != "-") || ok && token != c.token {
				t.Errorf("ProxyToken() = %q, %v", token, ok)
			}
			if c.want == "" {
				c.want = c.params
			}
			stripped := m.WithoutProxyToken()
			checkSame(t, stripped, before+c.want+after, parseClient)
			if _, still := stripped.ProxyToken(); still {
				t.Error("there is still a token")
			}
		})
	}
	for _, doc := range []string{`{"jsonrpc":"2.0","id":1,"method":"m"}`, `{"jsonrpc":"2.0","id":1,"result":{"proxy":{"authToken":"t"}}}`} {
		m := parsed(t, doc)
		if token, ok := m.ProxyToken(); ok {
			t.Errorf("%s has the token %q", doc, token)
		}
		checkSame(t, m.WithoutProxyToken(), doc, parseClient)
	}
}

// TestTheRestOfAMessageStays applies all kinds of changes to messages. It compares each result with
// what encoding/json reads from it.
func TestTheRestOfAMessageStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := message(t)
		m, err := wire.ParseServer([]byte(doc), 3)
		parse := func(b []byte) (wire.Message, error) { return wire.ParseServer(b, 0) }
		if rapid.Bool().Draw(t, "client") {
			var refused *wire.Error
			if m, refused = wire.ParseClient([]byte(doc), wire.MaxRequestDepth); refused != nil {
				err = refused
			}
			parse = parseClient
		}
		if err != nil {
			return
		}
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			was := bytes.Clone(m.Raw)
			name, value := "", ""
			switch rapid.IntRange(0, 4).Draw(t, "change") {
			case 0:
				name, value = "params", params().Draw(t, "new params")
				m = m.WithParams([]byte(value))
			case 1:
				name, value = "result", params().Draw(t, "new result")
				m = m.WithResult([]byte(value))
			case 2:
				name, value = "error", `{"code":5,"message":"m","x":[]}`
				m = m.WithError([]byte(value))
			case 3:
				name, value = "id", `"another"`
				m = m.WithID(wire.StringID("another"))
			default:
				_, had := m.ProxyToken()
				m = m.WithoutProxyToken()
				if _, has := m.ProxyToken(); has || had == bytes.Equal(m.Raw, was) && had {
					t.Fatalf("%s without the token is %s", was, m.Raw)
				}
				name, value = "params", string(m.Params)
			}
			checkSame(t, m, string(m.Raw), parse)
			checkMembers(t, was, m.Raw, name, value)
		}
	})
}

// checkMembers checks that a document's members are byte for byte the same, except for one that may
// have a new value.
func checkMembers(t failer, was, is []byte, name, value string) {
	t.Helper()
	had, has := members(was), members(is)
	at := slices.IndexFunc(had, func(m [2]string) bool { return m[0] == name })
	if at >= 0 && string(was) != string(is) {
		had[at][1] = value
	}
	if len(has) == len(had)+1 && at < 0 && name == "params" {
		had = append(had, [2]string{name, value})
	}
	if fmt.Sprintf("%q", had) != fmt.Sprintf("%q", has) {
		t.Fatalf("%s became %s with another %s", was, is, name)
	}
}

func members(doc []byte) (all [][2]string) {
	d := json.NewDecoder(bytes.NewReader(doc))
	_, _ = d.Token()
	for d.More() {
		name, _ := d.Token()
		var raw json.RawMessage
		if d.Decode(&raw) != nil {
			return nil
		}
		all = append(all, [2]string{name.(string), string(raw)})
	}
	return all
}

// message generates a message of any kind with its members in any order.
func message(t *rapid.T) string {
	all := []string{`"jsonrpc":"2.0"`, `"x" : 12345678901234567890`, `"y":{"params":{},"id":5}`}
	switch rapid.IntRange(0, 2).Draw(t, "kind") {
	case 0:
		method := rapid.SampledFrom([]string{"m", "notifications/progress", "notifications/cancelled", "tools/call"}).Draw(t, "method")
		all = append(all, `"m\u0065thod":"`+method+`"`)
		if rapid.Bool().Draw(t, "has an id") {
			all = append(all, `"id" :7`)
		}
		switch rapid.IntRange(0, 3).Draw(t, "params") {
		case 0:
		case 1:
			all = append(all, `"params":null`)
		default:
			all = append(all, `"params": `+params().Draw(t, "params"))
		}
	case 1:
		all = append(all, `"id":"\u0031"`, `"result":`+params().Draw(t, "result"))
	default:
		all = append(all, `"id":1.50`, `"error":{"message":"m\n","code":-5,"data":`+params().Draw(t, "data")+`}`)
	}
	return "{" + strings.Join(rapid.Permutation(all).Draw(t, "members"), rapid.SampledFrom([]string{",", " , ", ",\n"}).Draw(t, "comma")) + "}"
}

// params generates an object with the members whose spans a Message records.
func params() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		all := []string{
			`"name":"n"`, `"uri" : "u\u0072i"`, `"taskId":"t"`, `"progressToken":5`, `"requestId":"r"`, `"arguments":{"name":"x","long":"longer than three"}`,
			`"_meta":{"progressToken":"p"}`, `"proxy":{"authToken":"secret"}`,
		}
		if rapid.Bool().Draw(t, "rich") {
			all[6], all[7] = `"_m\u0065ta":{ "a":1, "progressToken":12345678901234567890 }`, `"proxy":{"a":1,"authToken":7,"b":2}`
		}
		some := rapid.SliceOfNDistinct(rapid.SampledFrom(all), 0, len(all), rapid.ID[string]).Draw(t, "some")
		return "{" + strings.Join(some, ",") + "}"
	})
}

func BenchmarkWithParams(b *testing.B) {
	big := `{"name":"t","arguments":{"text":"` + strings.Repeat("The quick brown fox. ", 5000) + `"}}`
	m, refused := wire.ParseRequest([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`+big+`}`), wire.MaxRequestDepth)
	if refused != nil {
		b.Fatal(refused)
	}
	params := []byte(strings.Replace(big, `"t"`, `"server::t"`, 1))
	b.ReportAllocs()
	b.SetBytes(int64(len(params)))
	for b.Loop() {
		m.WithParams(params)
	}
}

func FuzzWithParams(f *testing.F) {
	for _, doc := range requests {
		f.Add([]byte(doc), []byte(`{"name":"n","proxy":{"authToken":"t"},"_meta":{"progressToken":1}}`))
	}
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""},"result":null}`), []byte(` [ ] `))
	f.Fuzz(func(t *testing.T, doc, params []byte) {
		m, refused := wire.ParseClient(doc, 64)
		if refused != nil {
			return
		}
		checkSame(t, m.WithoutProxyToken(), string(m.WithoutProxyToken().Raw), parseClient)
		checkSame(t, m.WithParams(nil), string(m.WithParams(nil).Raw), parseClient)
		s := rawjson.NewScanner(params, 64)
		s.Unique = true
		first := s.Peek()
		if _, err := s.Skip(); err != nil || s.End() != nil || first != '{' && first != '[' {
			return
		}
		n := m.WithParams(params)
		// these two refuse names that equal "name" except for case
		if m.Method != "tools/call" && m.Method != "prompts/get" {
			checkSame(t, n, string(n.Raw), parseClient)
		}
		checkMembers(t, m.Raw, n.Raw, "params", string(bytes.Trim(params, " \t\r\n")))
	})
}
