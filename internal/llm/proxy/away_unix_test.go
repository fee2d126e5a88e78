//go:build unix

package proxy_test

import (
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"secateur/internal/llm/proxy"
	"secateur/internal/store/records"
	"secateur/internal/store/redisdb"
	"secateur/internal/store/redisdb/redistest"
)

// sharing makes a proxy whose records are in a shared engine.
func sharing(t *testing.T, url string, providers map[string]*fakeProvider) (*proxied, *redisdb.DB) {
	t.Helper()
	db, err := redisdb.Open(t.Context(), redisdb.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return newProxy(t, func(o *proxy.Options) {
		pruningOn(o)
		o.Records = records.NewRedis(records.RedisOptions{DB: db, TTL: time.Hour})
	}, providers), db
}

// While the engine is down, a replica continues its own conversations in their recorded form and
// cuts nothing more. Other conversations pass unchanged. After that the engine's records count
// again.
func TestRecordsThatCannotBeAskedForCutNothing(t *testing.T) {
	server := redistest.Start(t)
	p := anthropicProvider(t)
	a, ofA := sharing(t, server.Brisk, anthropicOnly(p))
	b, ofB := sharing(t, server.Brisk, anthropicOnly(p))
	say := func(px *proxied, turns int) string {
		t.Helper()
		got := px.do(t, http.MethodPost, "/v1/messages", claudeTalk(turns, true, partOf))
		px.running.Wait()
		if got.status != http.StatusOK {
			t.Fatalf("%d turns: %d", turns, got.status)
		}
		return string(p.last(t).body)
	}
	var before string
	for turns := 1; turns <= 3; turns++ {
		before = say(a, turns)
	}
	if before == claudeTalk(3, true, partOf) {
		t.Fatal("nothing was cut")
	}
	server.Signal(syscall.SIGSTOP)
	for _, db := range []*redisdb.DB{ofA, ofB} {
		for deadline := time.Now().Add(time.Minute); db.Up() == nil; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("a stopped engine still answers")
			}
		}
	}
	if sent := say(b, 3); sent != claudeTalk(3, true, partOf) {
		t.Error("a conversation of which nobody can tell in which form it was sent did not pass as it came")
	}
	whole := claudeTalk(4, true, partOf)
	if sent := say(a, 4); !strings.HasPrefix(sent, withoutTail(before)) || !strings.HasSuffix(sent, whole[len(whole)-5000:]) {
		t.Error("the replica that has served it sent it in another form, or cut what nobody would know of")
	}
	server.Signal(syscall.SIGCONT)
	server.Await(ofB)
	if sent := say(b, 4); !strings.HasPrefix(sent, withoutTail(before)) {
		t.Error("with the engine back, another replica sends another form")
	}
}
