package proxy_test

import (
	"context"
	"regexp"
	"sync"
	"testing"

	"secateur/internal/llm/proxy"
	"secateur/internal/store/originals"
	"secateur/internal/store/records"
)

var idInBody = regexp.MustCompile(`prn_[0-9A-Z]{26}`)

// The ids shown to a model, for pruned and masked results, belong to the tenant. Only this tenant
// gets the originals with them.
func TestIDsAreTheTenants(t *testing.T) {
	provider := counting(t)
	store := &originals.Memory{Key: originals.NewKey()}
	px := newProxy(t, func(o *proxy.Options) {
		o.Originals = store
		o.Pruning, o.Masking = pruning(), masking("sliding")
		o.Masking.Recover, o.Masking.WindowTurns = "hint", 2
	}, one(provider))
	for _, tenant := range []string{"team-a", "team-b", ""} {
		px.tenant = tenant
		k := newTalk()
		for i := range 6 {
			k.turn("read", `{"path":"a.txt"}`, result(i, 400))
			if res := px.post(t, k.request("m")); res.status != 200 {
				t.Fatalf("%d %s", res.status, res.body)
			}
		}
		sent := string(provider.last(t).body)
		ids := idInBody.FindAllString(sent, -1)
		if len(ids) < 2 {
			t.Fatalf("tenant %q: %d ids in what was sent", tenant, len(ids))
		}
		for _, id := range ids {
			if _, err := store.Get(t.Context(), tenant, id); err != nil {
				t.Errorf("tenant %q cannot get %s back: %v", tenant, id, err)
			}
			for _, other := range []string{"team-a", "team-b", ""} {
				if _, err := store.Get(t.Context(), other, id); other != tenant && err == nil {
					t.Errorf("tenant %q gets what is tenant %q's", other, tenant)
				}
			}
		}
	}
}

// spied records the keys that are read or written.
type spied struct {
	proxy.Records

	mu   sync.Mutex
	keys map[string]bool
}

func (s *spied) note(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys[key] = true
}

func (s *spied) Get(ctx context.Context, key string) ([]byte, bool, error) {
	s.note(key)
	return s.Records.Get(ctx, key)
}

func (s *spied) Put(ctx context.Context, key string, value []byte) error {
	s.note(key)
	return s.Records.Put(ctx, key, value)
}

func (s *spied) PutNew(ctx context.Context, key string, value []byte) (bool, error) {
	s.note(key)
	return s.Records.PutNew(ctx, key, value)
}

// take returns the keys since the last call.
func (s *spied) take() map[string]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys := s.keys
	s.keys = map[string]bool{}
	return keys
}

// Records of one tenant's conversations are inaccessible to others, whatever the names of tenants
// and models contain.
func TestNamesOfTenantsDoNotReachIntoKeys(t *testing.T) {
	spy := &spied{Records: &records.Memory{}, keys: map[string]bool{}}
	px := newProxy(t, func(o *proxy.Options) { o.Pruning, o.Masking, o.Records = pruning(), masking("priced"), spy }, one(counting(t)))
	k := newTalk()
	k.turn("read", `{"path":"a.txt"}`, result(0, 400))
	ask := func(tenant, model string) map[string]bool {
		px.tenant = tenant
		if res := px.post(t, k.request(model)); res.status != 200 {
			t.Fatalf("%d %s", res.status, res.body)
		}
		px.running.Wait()
		return spy.take()
	}
	first := ask("a", "main/main/q")
	if len(first) == 0 {
		t.Fatal("nothing is remembered")
	}
	for _, other := range []string{"a/main", "a%2Fmain"} {
		for key := range ask(other, "main/q") {
			if first[key] {
				t.Errorf("tenants a and %s share %s", other, key)
			}
		}
	}
}
