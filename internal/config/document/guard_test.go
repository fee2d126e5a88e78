package document

import "testing"

// A change of a number beyond float precision is noticed, even beside the intended entry.
func TestOnlyEntrySeesEveryDigit(t *testing.T) {
	at := Place{Group: "servers", Name: "x"}
	const before = `{"limit":9007199254740993,"servers":{}}`
	if !onlyEntry(JSON, []byte(before), []byte(`{"limit":9007199254740993,"servers":{"x":1}}`), at) {
		t.Error("the entry alone was put in")
	}
	if onlyEntry(JSON, []byte(before), []byte(`{"limit":9007199254740992,"servers":{"x":1}}`), at) {
		t.Error("the number changed, and nobody saw it")
	}
}
