package era_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"secateur/internal/mcp/era"
)

// tool returns a tool with the given properties.
func tool(properties string) []byte {
	return []byte(`{"name":"t","inputSchema":{"type":"object","properties":{` + properties + `}}}`)
}

// one returns a tool whose only argument is annotated.
func one(kind, header string) []byte {
	return tool(`"a":{"type":` + kind + `,"x-mcp-header":` + header + `}`)
}

func TestToolHeadersAreChecked(t *testing.T) {
	const (
		notReached = "not on a property that can be reached"
		noName     = "is no name of a header"
		noString   = "is not a string, or empty"
		noType     = "its type is not"
	)
	annotated := `{"type":"string","x-mcp-header":"A"}`
	inner := `{"type":"object","properties":{"b":` + annotated + `}}`
	schema := func(members string) []byte { return []byte(`{"name":"t","inputSchema":{` + members + `}}`) }
	for _, c := range []struct {
		rule string
		tool []byte
		want string // the header's name, "" for none, or a part of the error
	}{
		{"a string", one(`"string"`, `"Region"`), "Mcp-Param-Region"},
		{"an integer", one(`"integer"`, `"Region"`), "Mcp-Param-Region"},
		{"a boolean", one(`"boolean"`, `"Region"`), "Mcp-Param-Region"},
		{"a number, which clients in use repeat", one(`"number"`, `"Region"`), "Mcp-Param-Region"},
		{"names are written in one way", one(`"string"`, `"my-REGION-1x"`), "Mcp-Param-My-Region-1x"},
		{"all that a name may have", one(`"string"`, "\"!#$%&'*+-.^_`|~aZ0\""), "Mcp-Param-!#$%&'*+-.^_`|~az0"},
		{"escaped", []byte(`{"inputSch\u0065ma":{"properti\u0065s":{"a":{"typ\u0065":"strin\u0067","x-mcp\u002dheader":"R\u0065gion"}}}}`), "Mcp-Param-Region"},
		{"within an object", tool(`"a":` + inner), "Mcp-Param-A"},
		{"no annotation", tool(`"a":{"type":"string"}`), ""},
		{"no schema", []byte(`{"name":"t"}`), ""},
		{"a schema that is no object", []byte(`{"name":"t","inputSchema":true}`), ""},
		{"a property of that name", tool(`"x-mcp-header":{"type":"string"},"properties":{"type":"string"}`), ""},
		{"a tool that is no object", []byte(`"t"`), ""},
		{"in an example", tool(`"a":{"type":"object","default":` + annotated + `,"examples":[` + inner + `],"enum":[` + annotated + `],"const":` + inner + `}`), ""},

		{"an empty name", one(`"string"`, `""`), noString},
		{"a name that is no string", one(`"string"`, `7`), noString},
		{"a name that is null", one(`"string"`, `null`), noString},
		{"a space", one(`"string"`, `"My Region"`), noName},
		{"a colon", one(`"string"`, `"Region:Primary"`), noName},
		{"what is not ASCII", one(`"string"`, `"Région"`), noName},
		{"a control character", one(`"string"`, `"Region\t1"`), noName},
		{"a line break", one(`"string"`, `"Region\r\nX-Evil: 1"`), noName},
		{"an object", one(`"object"`, `"A"`), noType},
		{"an array", one(`"array"`, `"A"`), noType},
		{"null", one(`"null"`, `"A"`), noType},
		{"several types", one(`["string","null"]`, `"A"`), noType},
		{"no type", tool(`"a":{"x-mcp-header":"A"}`), noType},
		{"twice", tool(`"a":` + annotated + `,"b":` + annotated), "used twice"},
		{"twice but for capitals", tool(`"a":` + annotated + `,"b":{"type":"string","x-mcp-header":"a"}`), "used twice"},
		{"twice, at different depths", tool(`"a":` + annotated + `,"c":` + inner), "used twice"},
		{"the whole", schema(`"type":"string","x-mcp-header":"A"`), notReached},
		{"in items", tool(`"a":{"type":"array","items":` + annotated + `}`), notReached},
		{"in items, within an object", tool(`"a":{"items":` + inner + `}`), notReached},
		{"in prefixItems", tool(`"a":{"prefixItems":[true,` + annotated + `]}`), notReached},
		{"in oneOf", schema(`"oneOf":[` + inner + `]`), notReached},
		{"in anyOf", tool(`"a":{"anyOf":[` + annotated + `]}`), notReached},
		{"in allOf", schema(`"allOf":[{},` + inner + `]`), notReached},
		{"in not", tool(`"a":{"not":` + annotated + `}`), notReached},
		{"in if", schema(`"if":` + inner), notReached},
		{"in then", schema(`"then":` + inner), notReached},
		{"in else", schema(`"else":` + inner), notReached},
		{"in additionalProperties", schema(`"additionalProperties":` + annotated), notReached},
		{"in patternProperties", schema(`"patternProperties":{"^a":` + annotated + `}`), notReached},
		{"in $defs", schema(`"$defs":{"a":` + annotated + `}`), notReached},
		{"in definitions", schema(`"definitions":{"a":` + inner + `}`), notReached},
		{"in properties of items", tool(`"a":{"items":{"properties":{"b":` + inner + `}}}`), notReached},
	} {
		t.Run(c.rule, func(t *testing.T) {
			headers, err := era.ReadToolHeaders(c.tool)
			switch {
			case c.want == "":
				if headers != nil || err != nil {
					t.Errorf("ReadToolHeaders(%s) = %v, %v", c.tool, headers, err)
				}
			case strings.HasPrefix(c.want, "Mcp-Param-"):
				got := headers.Of([]byte(`{"a":"v","\u0062":"v"}`))
				if len(got) == 0 {
					got = headers.Of([]byte(`{"a":{"b":"v"}}`))
				}
				if err != nil || len(got) != 1 || got[0] != (era.ParamHeader{Name: c.want, Value: "v"}) {
					t.Errorf("ReadToolHeaders(%s).Of = %q, %v", c.tool, got, err)
				}
				if len(got) == 1 && got[0].Name != http.CanonicalHeaderKey(got[0].Name) {
					t.Errorf("%s is %s to net/http", got[0].Name, http.CanonicalHeaderKey(got[0].Name))
				}
			case err == nil || headers != nil || !strings.Contains(err.Error(), c.want):
				t.Errorf("ReadToolHeaders(%s) = %v, %v, want an error with %q", c.tool, headers, err, c.want)
			}
		})
	}
}

func TestErrorsOfToolHeadersAreShort(t *testing.T) {
	long := strings.Repeat("é", 5000)
	_, err := era.ReadToolHeaders(tool(`"` + long + `":{"type":"string","x-mcp-header":"` + long + `"}`))
	if err == nil || len(err.Error()) > 400 {
		t.Errorf("error of %d bytes", len(fmt.Sprint(err)))
	}
}

// manyHeaders reads a tool with arguments of all kinds.
func manyHeaders(tb testing.TB) *era.ToolHeaders {
	tb.Helper()
	headers, err := era.ReadToolHeaders(tool(`"s":{"type":"string","x-mcp-header":"S"},"i":{"type":"integer","x-mcp-header":"I"},
		"b":{"type":"boolean","x-mcp-header":"B"},"n":{"type":"number","x-mcp-header":"N"},"plain":{"type":"string"},
		"o":{"type":"object","properties":{"s":{"type":"string","x-mcp-header":"O-S"},"p":{"type":"object","properties":{"s":{"type":"string","x-mcp-header":"O-P-S"}}}}}`))
	if err != nil || headers == nil {
		tb.Fatalf("ReadToolHeaders = %v, %v", headers, err)
	}
	return headers
}

func TestParamHeaders(t *testing.T) {
	for _, c := range []struct{ rule, arguments, want string }{
		{"all of them, in the order of the schema", `{"o":{"p":{"s":"z"},"s":"y"},"n":1.5,"b":true,"i":42,"s":"x","plain":"p"}`, "S=x I=42 B=true N=1.5 O-S=y O-P-S=z"},
		{"escaped", `{"\u0073":"\u0041\ud83d\ude00\n"}`, "S=A😀\n"},
		{"an empty string", `{"s":""}`, "S="},
		{"false and zero", `{"b":false,"i":0,"n":-0}`, "I=0 B=false N=0"},
		{"null is left out", `{"s":null,"i":null,"o":null}`, ""},
		{"what is not there is left out", `{"o":{}}`, ""},
		{"no arguments", ``, ""},
		{"arguments that are no object", `["s"]`, ""},
		{"integers in any spelling", `{"i":42.0,"n":4.2e1}`, "I=42 N=42"},
		{"the largest safe integer", `{"i":9007199254740991,"n":-9007199254740991}`, "I=9007199254740991 N=-9007199254740991"},
		{"unsafe integers are left out", `{"i":9007199254740992,"n":12345678901234567890}`, ""},
		{"numbers that are none are left out", `{"n":1e999}`, ""},
		{"small numbers", `{"n":1e-7}`, "N=0.0000001"},
		{"what is no scalar is left out", `{"s":["x"],"i":{"x":1}}`, ""},
		{"by what it is, not by its type", `{"s":7,"i":"7","b":"yes"}`, "S=7 I=7 B=yes"},
		{"an object where a string belongs, and the other way round", `{"s":{"s":"x"},"o":"x"}`, ""},
		{"names of other depths", `{"p":{"s":"x"},"o":{"o":{"s":"x"}}}`, ""},
	} {
		t.Run(c.rule, func(t *testing.T) {
			var got []string
			for _, h := range manyHeaders(t).Of([]byte(c.arguments)) {
				got = append(got, strings.TrimPrefix(h.Name, "Mcp-Param-")+"="+h.Value)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("Of(%s) = %q, want %q", c.arguments, got, c.want)
			}
		})
	}
	if got := (*era.ToolHeaders)(nil).Of([]byte(`{"s":"x"}`)); got != nil {
		t.Errorf("nil.Of = %v", got)
	}
}

func TestParamHeadersAreCompared(t *testing.T) {
	const missing, unexpected, differs, broken = "is missing", "is there, but not", "does not match", "not allowed"
	for _, c := range []struct{ rule, arguments, headers, want string }{
		{"the same", `{"s":"x","i":42,"b":true,"n":1.5,"o":{"s":"y"}}`, "S=x|I=42|B=true|N=1.5|O-S=y", ""},
		{"in base64", `{"s":"Hello, 世界"}`, "S==?base64?SGVsbG8sIOS4lueVjA==?=", ""},
		{"plain text in base64", `{"s":"a","i":7}`, "S==?base64?YQ==?=|I==?base64?Nw==?=", ""},
		{"what looks like base64 is not decoded twice", `{"s":"=?base64?YQ==?="}`, "S==?base64?PT9iYXNlNjQ/WVE9PT89?=", ""},
		{"integers by value", `{"i":42,"n":42.0}`, "I=42.0|N=42.00", ""},
		{"integers that no header can say", `{"i":12345678901234567890}`, "", ""},
		{"integers that no header can say, said all the same", `{"i":12345678901234567890}`, "I=12345678901234567890", ""},
		{"an empty string, sent", `{"s":""}`, "S=", ""},
		{"an empty string, dropped on the way", `{"s":""}`, "", ""},
		{"an empty string in base64", `{"s":""}`, "S==?base64??=", ""},
		{"no arguments, no headers", ``, "", ""},
		{"null, no header", `{"s":null}`, "", ""},
		{"other headers do not matter", `{}`, "X=1", ""},

		{"a header is missing", `{"s":"x"}`, "", missing},
		{"a header is empty", `{"i":1}`, "I=", missing},
		{"a header too many", `{}`, "S=x", unexpected},
		{"a header for null", `{"s":null}`, "S=null", unexpected},
		{"a header for an object", `{"s":{"a":1}}`, "S=x", unexpected},
		{"another text", `{"s":"x"}`, "S=y", differs},
		{"capitals matter", `{"s":"x"}`, "S=X", differs},
		{"another number", `{"i":42}`, "I=43", differs},
		{"a number that is none", `{"i":42}`, "I=0x2a", differs},
		{"a number in another form", `{"i":1000}`, "I=1e3", differs},
		{"strings are not numbers", `{"s":"42"}`, "S=42.0", differs},
		{"another truth", `{"b":true}`, "B=TRUE", differs},
		{"another one of the same name deeper", `{"o":{"s":"x"}}`, "O-S=y", differs},
		{"broken base64", `{"s":"a"}`, "S==?base64?Y?=", broken},
		{"base64 without padding", `{"s":"a"}`, "S==?base64?YQ?=", broken},
		{"characters that no header may have", `{"s":"é"}`, "S=é", broken},
	} {
		t.Run(c.rule, func(t *testing.T) {
			sent := map[string]string{}
			for h := range strings.SplitSeq(c.headers, "|") {
				if name, value, ok := strings.Cut(h, "="); ok {
					sent["Mcp-Param-"+name] = value
				}
			}
			got := manyHeaders(t).Check([]byte(c.arguments), func(name string) (string, bool) { v, ok := sent[name]; return v, ok })
			if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("Check(%s) with %q = %q, want %q", c.arguments, sent, got, c.want)
			}
		})
	}
	if got := (*era.ToolHeaders)(nil).Check([]byte(`{"s":"x"}`), nil); got != "" {
		t.Errorf("nil.Check = %s", got)
	}
}

// FuzzToolHeaders checks that Check accepts the headers that Of returns.
func FuzzToolHeaders(f *testing.F) {
	f.Add([]byte(`{"s":"é","i":1e2,"b":false,"n":-0.5,"o":{"s":"","p":{"s":" "}}}`))
	f.Add([]byte(`{"s":"\ud800`))
	f.Fuzz(func(t *testing.T, arguments []byte) {
		headers := manyHeaders(t)
		sent := map[string]string{}
		for _, h := range headers.Of(arguments) {
			sent[h.Name] = era.EncodeParam(h.Value)
		}
		if got := headers.Check(arguments, func(name string) (string, bool) { v, ok := sent[name]; return v, ok }); got != "" {
			t.Errorf("Check(%q) with %q = %s", arguments, sent, got)
		}
	})
}
