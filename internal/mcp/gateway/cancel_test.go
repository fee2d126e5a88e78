package gateway_test

import (
	"context"
	"testing"

	"secateur/internal/mcp/toolserver"
	"secateur/internal/mcp/upstream"
	"secateur/internal/mcp/wire"
)

// slow is a server whose method wait answers only when released, cancelled or not.
func slow(t *testing.T, release <-chan struct{}) (upstream.Options, <-chan struct{}) {
	t.Helper()
	arrived := make(chan struct{}, 2)
	s, err := toolserver.New(toolserver.Options{Name: "slow", Version: "1", Methods: map[string]toolserver.Method{
		"wait": func(context.Context, *wire.Message) ([]byte, *wire.Error) {
			arrived <- struct{}{}
			<-release
			return []byte(`{}`), nil
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return upstream.Options{Settings: upstream.Settings{ID: "slow", Builtin: "slow"}, Local: s}, arrived
}

func TestANotificationCancelsTheCallOfThatID(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	server, arrived := slow(t, release)
	b := newBench(t, []upstream.Options{server})
	answered := make(chan answer, 1)
	go func() { answered <- b.post(t, "slow", `{"jsonrpc":"2.0","id":"a","method":"wait"}`) }()
	<-arrived
	// Neither another id nor the same id of another type cancels it.
	for _, id := range []string{`"b"`, `1`} {
		b.post(t, "slow", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`}}`)
	}
	select {
	case a := <-answered:
		t.Fatalf("the call ended for another one's sake: %s", a.body)
	default:
	}
	if a := b.post(t, "slow", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"\u0061"}}`); a.status != 202 {
		t.Errorf("the notification got %d", a.status)
	}
	if code, word, id := (<-answered).failure(t); code != -32800 || word != "cancelled" || id != `"a"` {
		t.Errorf("the call got %d %s id %s, want -32800 cancelled", code, word, id)
	}
}
