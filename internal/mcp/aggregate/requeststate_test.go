package aggregate

import (
	"testing"

	"secateur/internal/ops/replica"
)

func TestSeal(t *testing.T) {
	s, err := newSealer(replica.ID{7})
	if err != nil {
		t.Fatal(err)
	}
	st := state{stateParked, 3, callID{1, 2}, digest{4, 5}}
	sealed := s.close(st, "token")
	if got, err := s.open(sealed, "token"); err != nil || got != st {
		t.Errorf("open = %+v, %v", got, err)
	}
	if replicaOf(sealed) != s.replica || replicaOf("AAAA") != (replica.ID{}) {
		t.Error("it does not tell which replica has closed it")
	}
	if s.close(st, "token") == sealed {
		t.Error("two seals of the same state are equal")
	}
	if _, err := s.open(sealed, "anonymous"); err == nil {
		t.Error("it opens for somebody else")
	}
	other, err := newSealer(replica.ID{7})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.open(sealed, "token"); err == nil {
		t.Error("it opens in another process")
	}
	for i := range len(sealed) {
		bad := []byte(sealed)
		bad[i] ^= 4
		if got, err := s.open(string(bad), "token"); err == nil && i < len(sealed)-1 {
			t.Fatalf("changed at %d it still opens: %+v", i, got)
		}
	}
	for _, text := range []string{"", "AAAA", "theirs", sealed[:10], sealed + "-TAMPERED"} {
		if _, err := s.open(text, "token"); err == nil {
			t.Errorf("%q opens", text)
		}
	}
}
