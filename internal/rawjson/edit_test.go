package rawjson_test

import (
	"testing"

	"secateur/internal/rawjson"
)

func TestSet(t *testing.T) {
	for _, c := range []struct{ rule, object, name, want string }{
		{"in the place of the one there is", `{"a": 1, "b":[2] }`, "a", `{"a": 7, "b":[2] }`},
		{"an escaped name is the same name", `{"\u0061":1}`, "a", `{"\u0061":7}`},
		{"first where there is none", `{"b":2}`, "a", `{"a":7,"b":2}`},
		{"alone in an empty one", `{ } `, "a", `{"a":7 } `},
		{"what is no object becomes one", `[1]`, "a", `{"a":7}`},
		{"and what is not there", ``, "a", `{"a":7}`},
	} {
		if got := string(rawjson.Set([]byte(c.object), c.name, []byte("7"))); got != c.want {
			t.Errorf("%s: %s, want %s", c.rule, got, c.want)
		}
	}
}

func TestRemove(t *testing.T) {
	for _, c := range []struct{ rule, object, want string }{
		{"the first takes the comma behind it", `{"a":1, "b":2}`, `{"b":2}`},
		{"any other the one before", `{"b":2 ,"a":1 , "c":3}`, `{"b":2 , "c":3}`},
		{"several, and by what the names say", `{"\u0061":1,"a2":2,"b":3,"a2":4}`, `{"b":3}`},
		{"all", `{ "a":1,"a2":2 }`, `{  }`},
		{"none", `{"b":2}`, `{"b":2}`},
		{"of what is no object", `["a"]`, `["a"]`},
	} {
		if got := string(rawjson.Remove([]byte(c.object), "a", "a2")); got != c.want {
			t.Errorf("%s: %s, want %s", c.rule, got, c.want)
		}
	}
}

func TestRemoveWithin(t *testing.T) {
	for _, c := range []struct{ rule, object, want string }{
		{"what is left stays", `{"x":1,"o":{"a":1,"b":2},"y":2}`, `{"x":1,"o":{"b":2},"y":2}`},
		{"with nothing left it goes too", `{"x":1,"o":{"a":1},"y":2}`, `{"x":1,"y":2}`},
		{"an empty one has lost nothing", `{"o":{}}`, `{"o":{}}`},
		{"one that is no object", `{"o":["a"]}`, `{"o":["a"]}`},
	} {
		if got := string(rawjson.RemoveWithin([]byte(c.object), "o", "a")); got != c.want {
			t.Errorf("%s: %s, want %s", c.rule, got, c.want)
		}
	}
}

func TestInsert(t *testing.T) {
	for object, want := range map[string]string{`{}`: `{"n":1}`, `{ }`: `{ "n":1}`, ` {"a":{}} `: ` {"a":{},"n":1} `} {
		doc := []byte(object)
		if got := rawjson.Edited(doc, []rawjson.Edit{rawjson.Insert(doc, rawjson.Whole(doc), []byte(`"n":1`))}); string(got) != want {
			t.Errorf("Insert into %s = %s, want %s", object, got, want)
		}
	}
}

func TestObject(t *testing.T) {
	o := rawjson.Object{'{'}
	o.Text("a", "\"\n")
	o.Begin("in")
	o.Int("n", -3)
	o.Bool("b", true)
	o.End()
	o.Texts("t", []string{"x", "y"})
	o.Raw("r", []byte(`[]`))
	if got, want := string(append(o, '}')), `{"a":"\"\n","in":{"n":-3,"b":true},"t":["x","y"],"r":[]}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
