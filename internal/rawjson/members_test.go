package rawjson_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"secateur/internal/rawjson"
)

// shapes are documents of every kind for a Cursor.
var shapes = []string{
	`{}`, ` { } `, `[]`, `[ ]`, `7`, `"x"`, `null`, ``,
	`{"a":1,"b":[2,{"c":"}]"}] , "d" : "\"\\" ,"e":null}`,
	` {"\u0061":"\\\\","b\\":{"x":{}} , "":[[]] , "long":-1.50e3 } `,
	`[1, "a,]" ,[2],{"b":3},true , -1.50e3 ]`,
	`{"a":1,"a":2}`,
}

// checkMembers compares Members and Items with encoding/json.
func checkMembers(t *testing.T, doc []byte) {
	t.Helper()
	var wantMembers map[string]json.RawMessage
	var wantItems []json.RawMessage
	_ = json.Unmarshal(doc, &wantMembers) // anything but an object has none
	_ = json.Unmarshal(doc, &wantItems)
	members := map[string]json.RawMessage{}
	for name, at := range rawjson.Members(doc) {
		members[string(name)] = at.Of(doc)
	}
	if len(members) != len(wantMembers) || len(members) > 0 && !reflect.DeepEqual(members, wantMembers) {
		t.Errorf("members of %s: %s, want %s", doc, members, wantMembers)
	}
	for name, want := range wantMembers {
		if got := rawjson.Get(doc, name); !bytes.Equal(got, want) {
			t.Errorf("Get(%s, %q) = %s, want %s", doc, name, got, want)
		}
		var text string
		isText := json.Unmarshal(want, &text) == nil && want[0] == '"'
		if got, ok := rawjson.Text(want); ok != isText || ok && bytes.IndexByte(want, '\\') < 0 && got != text {
			t.Errorf("Text(%s) = %q, %v", want, got, ok)
		}
	}
	var items []json.RawMessage
	for raw := range rawjson.Items(doc) {
		items = append(items, raw)
	}
	if len(items) != len(wantItems) || len(items) > 0 && !reflect.DeepEqual(items, wantItems) {
		t.Errorf("items of %s: %s, want %s", doc, items, wantItems)
	}
}

func TestMembersAndItems(t *testing.T) {
	for _, doc := range shapes {
		checkMembers(t, []byte(doc))
	}
}

// FuzzCursor checks that a Cursor reaches the end of any input. For valid JSON it also compares
// finding, removing and replacing with encoding/json.
func FuzzCursor(f *testing.F) {
	for _, doc := range append(shapes, `{`, `{"a`, `{"a"}`, `[[[`, `{"a":]}`, `"\`, `{"a":"\u12"}`) {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		before := bytes.Clone(doc)
		valid := rawjson.Check(doc, 1000) == nil
		for _, made := range [][]byte{
			rawjson.Remove(doc, "a", "e"), rawjson.RemoveWithin(doc, "b", "x"), rawjson.Set(doc, "a", []byte("7")),
		} {
			if valid && rawjson.Check(made, 1000) != nil {
				t.Errorf("%s became %s", doc, made)
			}
		}
		for range rawjson.Members(doc) { // must terminate
		}
		for range rawjson.Items(doc) { // must terminate
		}
		// encoding/json treats surrogates differently
		if valid && json.Valid(doc) && !bytes.Contains(doc, []byte(`\u`)) {
			checkMembers(t, doc)
		}
		if !bytes.Equal(doc, before) {
			t.Errorf("the document was changed: %q, now %q", before, doc)
		}
	})
}
