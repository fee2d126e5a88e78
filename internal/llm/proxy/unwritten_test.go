package proxy

import (
	"fmt"
	"testing"

	"secateur/internal/llm/chat"
)

func TestUnwrittenRecordsAreBounded(t *testing.T) {
	var u unwritten
	for i := range 3 * maxUnwritten {
		u.keep(&chat.Record{Messages: i}, fmt.Sprint("record", i), fmt.Sprint("last", i))
		u.written(fmt.Sprint("last", i))
	}
	if n := len(u.records); n > maxUnwritten || n < maxUnwritten/4 {
		t.Errorf("%d records are held", n)
	}
	if r := u.find(fmt.Sprint("record", 3*maxUnwritten-1)); r == nil || r.Messages != 3*maxUnwritten-1 {
		t.Errorf("the last record is %v", r)
	}
	if u.find("record0") != nil || u.find(fmt.Sprint("last", 3*maxUnwritten-1)) != nil {
		t.Error("the first record is still held, or one that was written")
	}
	for i := range 64 {
		u.keep(&chat.Record{Messages: i, Cuts: make([]chat.Sent, maxUnwrittenCuts/8)}, fmt.Sprint("large", i))
	}
	if u.cuts > maxUnwrittenCuts || len(u.records) != 8 || u.find("large63") == nil {
		t.Errorf("%d records with %d cuts are held", len(u.records), u.cuts)
	}
}

// A conversation that is kept repeatedly holds one place, and its newest record counts as new.
func TestAnUnwrittenRecordKeptAgainIsNotTheEarliest(t *testing.T) {
	var u unwritten
	for i := range 2 * maxUnwritten {
		u.keep(&chat.Record{Messages: i}, "again")
		if r := u.find("again"); r == nil || r.Messages != i {
			t.Fatalf("kept for the %dth time, it is %v", i+1, r)
		}
	}
	u.keep(&chat.Record{Messages: 1}, "other")
	u.keep(&chat.Record{Messages: 2}, "again")
	for i := range maxUnwritten - 1 {
		u.keep(&chat.Record{}, fmt.Sprint("newer", i))
	}
	if u.find("other") != nil || u.find("again") == nil {
		t.Errorf("the earliest is held: %v, one that was kept after it: %v, want the second alone", u.find("other") != nil, u.find("again") != nil)
	}
}
