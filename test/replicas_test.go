package test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"secateur/internal/store/redisdb/redistest"
)

// replicas are programs that share one Redis, each with its own demo server.
func replicas(t *testing.T, n int, url string) (all []*program) {
	t.Helper()
	for range n {
		all = append(all, start(t, fmt.Sprintf(`
[store]
url = %q
put_timeout_ms = 30000
[[servers]]
id = "demo"
builtin = "demo"
[observation_masking.gateway]
max_chars = 1000
head_chars = 300
tail_chars = 300
`, url)))
	}
	return all
}

var prunedID = regexp.MustCompile(`prn_[0-9A-Z]{26}`)

// A replica restores text that another replica has cut, byte for byte. Without the engine nothing
// is cut.
func TestReplicasRestoreWhatAnotherCut(t *testing.T) {
	server := redistest.Start(t)
	all := replicas(t, 3, server.URL)
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_log","arguments":{}}}`
	cut := all[0].rpc(t, "demo", call)
	id := prunedID.FindString(cut.body + fmt.Sprint(cut.header))
	if id == "" {
		t.Fatalf("nothing was cut: %.300s %v", cut.body, cut.header)
	}
	var first string
	for i, p := range all {
		got := p.post(t, "/rpc", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"recover_text","arguments":{"prune_id":%q,"ranges":[{"start_line":1,"end_line":50}],"include_line_numbers":false}}}`, id))
		if got.status != 200 || !strings.Contains(got.body, "raw_text") {
			t.Fatalf("replica %d: %d %.300s", i, got.status, got.body)
		}
		if first == "" {
			first = got.body
		}
		if got.body != first {
			t.Errorf("replica %d gives another text", i)
		}
	}
	server.Kill()
	if whole := all[1].rpc(t, "demo", call); prunedID.MatchString(whole.body + fmt.Sprint(whole.header)) {
		t.Errorf("cut without an engine to keep the original: %.300s", whole.body)
	}
}
