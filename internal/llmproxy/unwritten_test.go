package llmproxy

import (
	"fmt"
	"testing"

	"secateur/internal/chat"
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
