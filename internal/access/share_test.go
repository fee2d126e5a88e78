package access

import (
	"fmt"
	"testing"
)

// takeAll takes one piece at a time until refused, and returns the number taken.
func takeAll(s *Share, h Holder, limit int64) (n int) {
	for s.Take(h, 1, limit) {
		n++
	}
	return n
}

func caller(tenant, subject string) Holder {
	return HolderOf(&Principal{Issuer: IssuerToken, Subject: subject, Tenant: tenant})
}

func TestNoCallerTakesTheShareOfAllOthers(t *testing.T) {
	var s Share
	for i, want := range []int{768, 192, 48, 12, 3, 1} { // three quarters of the rest, each time
		if got := takeAll(&s, caller(DefaultTenant, fmt.Sprint(i)), 1024); got != want {
			t.Errorf("caller %d holds %d, want %d", i, got, want)
		}
	}
	if s.Used() != 1024 || s.Take(caller(DefaultTenant, "late"), 1, 1024) {
		t.Errorf("%d of 1024 are given out", s.Used())
	}
	if s = (Share{}); takeAll(&s, HolderOf(nil), 1024) != 768 || !s.Take(caller(DefaultTenant, "known"), 1, 1024) {
		t.Error("strangers take the share of known callers")
	}
}

func TestNoTenantTakesTheShareOfAllOthers(t *testing.T) {
	var s Share
	held := 0
	for i := range 200 {
		n := takeAll(&s, caller("team-a", fmt.Sprint(i)), 1024)
		if i == 0 && n != 576 || i == 1 && n != 144 {
			t.Errorf("caller %d of the tenant holds %d, want 576 and 144: three quarters of its tenant's 768 and of what is left of them", i, n)
		}
		held += n
	}
	if held != 768 {
		t.Errorf("a tenant of 200 callers holds %d of 1024, want 768", held)
	}
	if n := takeAll(&s, caller("team-b", "one"), 1024); n != 144 {
		t.Errorf("a caller of another tenant finds %d, want 144", n)
	}
}

func TestGivenBackIsThereAgain(t *testing.T) {
	var s Share
	a, b := caller("team-a", "a"), caller("team-a", "b")
	for range 3 {
		n := int64(takeAll(&s, a, 100))
		if !s.Take(b, 5, 100) || s.of[b] != 5 {
			t.Fatal("nothing is left for another of the tenant")
		}
		s.Give(a, n)
		s.Give(b, 5)
	}
	if s.Used() != 0 || len(s.of) != 0 {
		t.Errorf("%d are held by %v", s.Used(), s.of)
	}
	if !s.Take(a, 1, 1) {
		t.Error("the only piece is given to none")
	}
	if s.Take(a, 5, 3) {
		t.Error("more is given than there is")
	}
}
