package wire_test

import (
	"encoding/json"
	"testing"

	"secateur/internal/mcp/wire"
)

func TestAppendResponse(t *testing.T) {
	for _, c := range []struct {
		rule string
		err  *wire.Error
		id   wire.ID
		want string
	}{
		{"no id", wire.NewError(wire.CodeParse, "p"), wire.ID{}, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"p","data":{"code":"parse_error"}}}`},
		{"the caller's id as it came", wire.NewError(wire.CodeUnknownServer, "s"), wire.IDOf([]byte(`1.0`)), `{"jsonrpc":"2.0","id":1.0,"error":{"code":-32013,"message":"s","data":{"code":"unknown_server"}}}`},
		{"no data", &wire.Error{Code: 1, Message: "a\"\n\xff"}, wire.NumberID(1), `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"a\"\n�"}}`},
		{
			"all of the data",
			&wire.Error{Code: 1, Message: "m", Data: wire.Data{
				Code: "c", HTTPStatus: 502, Hint: "h", Server: "s", Path: "/a", Errors: []byte(`[{}]`),
				Supported: []string{"x", "y"}, Requested: "z", Extra: []byte(`"total_lines":3`),
			}},
			wire.StringID("i"),
			`{"jsonrpc":"2.0","id":"i","error":{"code":1,"message":"m","data":{"code":"c","http_status":502,"hint":"h","server":"s","path":"/a","errors":[{}],"supported":["x","y"],"requested":"z","total_lines":3}}}`,
		},
		{"extra data alone", &wire.Error{Code: 1, Data: wire.Data{Extra: []byte(`"a":1`)}}, wire.NumberID(1), `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"","data":{"a":1}}}`},
		{"invalid params", wire.InvalidParams("/a/b", "is missing"), wire.NumberID(1), `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"invalid params: /a/b is missing","data":{"code":"invalid_params","path":"/a/b"}}}`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			got := c.err.AppendResponse(nil, c.id)
			if string(got) != c.want || !json.Valid(got) {
				t.Errorf("AppendResponse = %s, want %s", got, c.want)
			}
			m, err := wire.ParseServer(got, 0)
			if err != nil || m.ID != c.id {
				t.Errorf("ParseServer(%s) = %s, %v", got, m.ID, err)
			}
			if object, err := json.Marshal(c.err); err != nil || string(object) != string(m.Error) {
				t.Errorf("Marshal = %s, %v, want %s", object, err, m.Error)
			}
			if c.err.Error() != c.err.Message {
				t.Errorf("Error() = %q", c.err.Error())
			}
		})
	}
}

func TestAppendResult(t *testing.T) {
	if got, want := string(wire.AppendResult(nil, wire.NumberID(1), []byte(`{"a":[]}`))), `{"jsonrpc":"2.0","id":1,"result":{"a":[]}}`; got != want {
		t.Errorf("AppendResult = %s, want %s", got, want)
	}
}
