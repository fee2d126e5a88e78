package aggregate

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
)

func TestSetMember(t *testing.T) {
	for _, c := range []struct{ rule, object, name, want string }{
		{"in the place of the one there is", `{"a": 1, "b":[2] }`, "a", `{"a": 7, "b":[2] }`},
		{"an escaped name is the same name", `{"\u0061":1}`, "a", `{"\u0061":7}`},
		{"first where there is none", `{"b":2}`, "a", `{"a":7,"b":2}`},
		{"alone in an empty one", ` { } `, "a", `{"a":7 } `},
		{"what is no object becomes one", `[1]`, "a", `{"a":7}`},
		{"and what is not there", ``, "a", `{"a":7}`},
	} {
		if got := string(setMember(bytes.TrimLeft([]byte(c.object), " "), c.name, []byte("7"))); got != c.want {
			t.Errorf("%s: %s, want %s", c.rule, got, c.want)
		}
	}
}

func TestElements(t *testing.T) {
	for _, array := range []string{`[]`, `[ ]`, `[1]`, ` [ {"a":[1,2]} , "x,]" ,null,-1.50e3 ] `, `{"a":1}`, `7`} {
		var want []json.RawMessage
		_ = json.Unmarshal([]byte(array), &want) // what is no array has none
		var got []json.RawMessage
		for _, e := range elements(bytes.TrimSpace([]byte(array))) {
			got = append(got, e)
		}
		if len(got) != len(want) || len(got) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %s, want %s", array, got, want)
		}
	}
}

func TestSeal(t *testing.T) {
	s, err := newSealer()
	if err != nil {
		t.Fatal(err)
	}
	st := state{stateParked, 3, callID{1, 2}, digest{4, 5}}
	sealed := s.close(st, "token")
	if got, err := s.open(sealed, "token"); err != nil || got != st {
		t.Errorf("open = %+v, %v", got, err)
	}
	if s.close(st, "token") == sealed {
		t.Error("two seals of the same state are equal")
	}
	if _, err := s.open(sealed, "anonymous"); err == nil {
		t.Error("it opens for somebody else")
	}
	other, err := newSealer()
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
