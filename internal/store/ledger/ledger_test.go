package ledger

import (
	"fmt"
	"testing"
)

func TestLedger(t *testing.T) {
	l := &Ledger{}
	for i := range 3 {
		l.Add("hello", "kimi", "k2", Request{RequestID: fmt.Sprint("r", i), SpentUSD: 1, PassthroughUSD: 2})
	}
	l.Add("other", "kimi", "k2", Request{RequestID: "s", SpentUSD: 5, PassthroughUSD: 5})
	l.Add("hello", "kimi", "k3", Request{RequestID: "t"})
	l.Add("", "kimi", "k2", Request{RequestID: "none"})
	all := l.List("")
	if len(all) != 3 || all[0].Model != "k3" || all[2].SpentUSD != 3 || all[2].PassthroughUSD != 6 {
		t.Fatalf("List = %+v", all)
	}
	if one := l.List("r1"); len(one) != 1 || one[0] != all[2] {
		t.Errorf("List of a request = %+v", one)
	}
	a, ok := l.Find(all[2].ID)
	if !ok || len(a.Requests) != 3 || a.Requests[0].RequestID != "r0" {
		t.Errorf("Find = %+v, %v", a, ok)
	}
	if _, ok := l.Find("none"); ok {
		t.Error("Find of none")
	}
}

func TestLedgerIsBounded(t *testing.T) {
	l := &Ledger{}
	for i := range maxConversations + 10 {
		l.Add(fmt.Sprint(i), "p", "m", Request{})
	}
	for i := range maxRequests + 10 {
		l.Add("last", "p", "m", Request{RequestID: fmt.Sprint(i), SpentUSD: 1})
	}
	all := l.List("")
	if a, _ := l.Find(all[0].ID); len(all) != maxConversations || len(a.Requests) != maxRequests || a.Requests[0].RequestID != "10" || a.SpentUSD != maxRequests+10 {
		t.Errorf("%d conversations, %d requests, spent %v", len(all), len(a.Requests), a.SpentUSD)
	}
	var none *Ledger
	none.Add("x", "p", "m", Request{})
	if len(none.List("")) != 0 {
		t.Error("the nil ledger remembers")
	}
}
