package wire_test

import (
	"testing"

	"secateur/internal/mcp/wire"
)

// A built message equals the message parsed from its bytes.
func TestBuiltMessages(t *testing.T) {
	for _, c := range []struct {
		made wire.Message
		want string
	}{
		{wire.NewRequest(wire.NumberID(7), "tools/call", []byte(` {"name":"a","_meta":{"progressToken":"t"}} `)), `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":"t"}}}`},
		{wire.NewRequest(wire.StringID("x"), `a"b`, nil), `{"jsonrpc":"2.0","id":"x","method":"a\"b"}`},
		{wire.NewNotification("notifications/cancelled", []byte(`{"requestId":1}`)), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`},
		{wire.NewNotification("n", []byte(`[1]`)), `{"jsonrpc":"2.0","method":"n","params":[1]}`},
	} {
		read, err := wire.ParseRequest([]byte(c.want), wire.MaxRequestDepth)
		if err != nil {
			t.Fatal(err)
		}
		if string(c.made.Raw) != c.want || !wire.SameSpans(&c.made, &read) || c.made.ID != read.ID || c.made.Method != read.Method ||
			string(c.made.Params) != string(read.Params) || c.made.Name != read.Name {
			t.Errorf("built %s, %+v, want %+v", c.made.Raw, c.made, read)
		}
	}
}
