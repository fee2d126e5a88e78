package aggregate

import (
	"testing"

	"secateur/internal/catalog"
	"secateur/internal/rpc"
)

// By which subscription of ours a notification came is nobody else's to know.
func TestTheSubscriptionStaysHere(t *testing.T) {
	for _, c := range []struct{ rule, only, in, want string }{
		{
			"among other things", "",
			`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///a","_meta":{"x":1,"io.modelcontextprotocol/subscriptionId":"s-1"}}}`,
			`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"proxy://resource/eyJzZXJ2ZXIiOiJmaWxlcyIsInVyaSI6ImZpbGU6Ly8vYSJ9","_meta":{"x":1,"secateur/server":"files"}}}`,
		},
		{
			"alone", "",
			`{"jsonrpc":"2.0","method":"notifications/x","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"s-1"}}}`,
			`{"jsonrpc":"2.0","method":"notifications/x","params":{"_meta":{"secateur/server":"files"}}}`,
		},
		{
			"of the one server", "files",
			`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///a","_meta":{"io.modelcontextprotocol/subscriptionId":"s-1"}}}`,
			`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///a"}}`,
		},
		{
			"none", "files",
			`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///a"}}`,
			`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///a"}}`,
		},
	} {
		m, err := rpc.ParseServer([]byte(c.in), 0)
		if err != nil {
			t.Fatal(err)
		}
		s := &clientConn{only: c.only}
		if got := string(s.forClient("files", &m, catalog.Outgoing{Server: "files"})); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.rule, got, c.want)
		}
	}
}
