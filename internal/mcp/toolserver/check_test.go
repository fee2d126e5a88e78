package toolserver_test

import (
	"fmt"
	"strings"
	"testing"

	"secateur/internal/mcp/toolserver"
)

func TestCheck(t *testing.T) {
	schema, err := toolserver.ParseSchema(`{"type":"object","properties":{
		"name":{"type":"string"},
		"kind":{"type":"string","enum":["a","b"]},
		"share":{"type":"number","minimum":0,"maximum":1},
		"count":{"type":"integer","minimum":1},
		"on":{"type":"boolean"},
		"a/b~c":{"type":"string"},
		"any":{},
		"more":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false},
		"list":{"type":"array","items":{"type":"integer","minimum":1}}
	},"required":["name"],"additionalProperties":false}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, value, want string }{
		{"all that fits", `{"name":"x","kind":"a","share":0.5,"count":3,"on":true,"any":[null],"more":{"n":1},"list":[1,2]}`, ``},
		{"a number with a fraction of nothing is an integer", `{"name":"","count":3.0}`, ``},
		{"a number with an exponent may be an integer", `{"name":"","count":3e2}`, ``},
		{"a fraction is not", `{"name":"","count":1.5}`, `/count must be an integer, not 1.5`},
		{"bounds are within", `{"name":"","share":0}`, ``},
		{"bounds are within, above", `{"name":"","share":1}`, ``},
		{"below", `{"name":"","share":-0.001}`, `/share must be at least 0, not -0.001`},
		{"above", `{"name":"","share":1.001}`, `/share must be at most 1, not 1.001`},
		{"beyond what a float holds", `{"name":"","share":1e999}`, `/share must be at most 1, not 1e999`},
		{"a huge integer fits where there is no maximum", `{"name":"","count":1e999}`, ``},
		{"a string for a number", `{"name":"","share":"0.5"}`, `/share must be a number, not a string`},
		{"a number for a boolean", `{"name":"","on":1}`, `/on must be a boolean, not a number`},
		{"null is no value", `{"name":null}`, `/name must be a string, not null`},
		{"a word outside the set", `{"name":"","kind":"c"}`, `/kind must be one of a, b`},
		{"an escaped word inside it", `{"name":"","kind":"\u0061"}`, ``},
		{"a name that is not known", `{"name":"","nam":1}`, `/nam is not a known argument; known: a/b~c, any, count, kind, list, more, name, on, share`},
		{"a name in other letters", `{"name":"","Kind":"a"}`, `/Kind is not a known argument; known: a/b~c, any, count, kind, list, more, name, on, share`},
		{"a name that is missing", `{}`, `/name is missing`},
		{"deeper", `{"name":"","more":{}}`, `/more/n is missing`},
		{"an item", `{"name":"","list":[1,"2",0,[]]}`, `/list/1 must be an integer, not a string; /list/2 must be at least 1, not 0; /list/3 must be an integer, not an array`},
		{"a name that needs escaping", `{"name":"","a/b~c":1}`, `/a~1b~0c must be a string, not a number`},
		{"everything at once", `{"kind":1,"share":2}`, `/kind must be a string, not a number; /share must be at most 1, not 2; /name is missing`},
		{"not even an object", `7`, ` must be an object, not a number`},
		{"white space", " { \"name\" : \"\" , \"list\" : [ 1 , 2 ] , \"more\" : { \"n\" : 1 } } ", ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := text(schema.Check([]byte(strings.TrimSpace(c.value)))); got != c.want {
				t.Errorf("Check(%s)\n got %s\nwant %s", c.value, got, c.want)
			}
		})
	}
}

func TestCheckEndsSomewhere(t *testing.T) {
	schema, _ := toolserver.ParseSchema(`{"type":"array","items":{"type":"string"}}`)
	if found := schema.Check([]byte("[" + strings.Repeat("1,", 99_999) + "1]")); len(found) != 20 {
		t.Errorf("%d violations reported, want 20", len(found))
	}
	if got := text(schema.Check([]byte("[" + strings.Repeat(`"",`, 10_000) + `""]`))); got != " has more than 10000 items" {
		t.Errorf("a list of 10001 items: %q", got)
	}
}

func text(found []toolserver.Violation) string {
	var all []string
	for _, v := range found {
		all = append(all, fmt.Sprintf("%s %s", v.Path, v.Message))
	}
	return strings.Join(all, "; ")
}

func TestArguments(t *testing.T) {
	a := toolserver.Read([]byte(`{"s":"a\u00e9\n","n":2.5,"i":7,"f":8.0,"big":1e999,"small":-1e999,"more":9223372036854775807,"b":true,"o":{"x":1},"l":[{"y":2},3],"z":null}`))
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"Text", a.Text("s"), "aé\n"},
		{"Text of a number", a.Text("n"), ""},
		{"Number", a.Number("n"), 2.5},
		{"Integer", a.Integer("i"), 7},
		{"Integer with a fraction of nothing", a.Integer("f"), 8},
		{"Integer beyond", a.Integer("big"), 9223372036854775807},
		{"Integer beyond, below", a.Integer("small"), -9223372036854775808},
		{"Integer to the last digit", a.Integer("more"), 9223372036854775807},
		{"Integer of a text", a.Integer("s"), 0},
		{"Bool", a.Bool("b"), true},
		{"Bool of nothing", a.Bool("nothing"), false},
		{"Object", a.Object("o").Integer("x"), 1},
		{"Object of a number", a.Object("n").Integer("x"), 0},
		{"Has", a.Has("s"), true},
		{"Has null", a.Has("z"), false},
		{"Has nothing", a.Has("nothing"), false},
	} {
		if c.got != c.want {
			t.Errorf("%s = %v, want %v", c.name, c.got, c.want)
		}
	}
	var items []string
	for item := range a.Items("l") {
		items = append(items, string(item))
	}
	if got := strings.Join(items, " "); got != `{"y":2} 3` {
		t.Errorf("Items = %s", got)
	}
}
