package era_test

import (
	"strings"
	"testing"
	"unsafe"

	"secateur/internal/mcp/era"
)

// full expands "~" to the protocol's prefix of _meta names.
func full(s string) string { return strings.ReplaceAll(s, "~", "io.modelcontextprotocol/") }

func TestReadMeta(t *testing.T) {
	for _, c := range []struct {
		rule, params string
		want         era.Meta
		missing      string
	}{
		{
			"everything",
			`{"name":"x","_meta":{"progressToken":1,"~protocolVersion":"2026-07-28","~clientCapabilities":{"roots":{}},"~clientInfo":{"version":"1","name":"c\u0061t"},"~logLevel":"debug"}}`,
			era.Meta{
				Version: "2026-07-28", HasVersion: true, Capabilities: []byte(`{"roots":{}}`),
				ClientInfo: []byte(`{"version":"1","name":"c\u0061t"}`), ClientName: "cat", LogLevel: "debug",
			},
			"",
		},
		{
			"what must be", `{"_meta":{"~protocolVersion":"2099-01-01","~clientCapabilities":{}}}`,
			era.Meta{Version: "2099-01-01", HasVersion: true, Capabilities: []byte(`{}`)},
			"",
		},
		{
			"escaped names", `{"_m\u0065ta":{"io.modelcontextprotocol\/protocolVersion":"\u0032","~client\u0043apabilities":{}}}`,
			era.Meta{Version: "2", HasVersion: true, Capabilities: []byte(`{}`)},
			"",
		},
		{"no params", ``, era.Meta{}, "_meta lacks ~protocolVersion"},
		{"no _meta", `{"~protocolVersion":"2026-07-28"}`, era.Meta{}, "_meta lacks ~protocolVersion"},
		{"an _meta that is no object", `{"_meta":["~protocolVersion"]}`, era.Meta{}, "_meta lacks ~protocolVersion"},
		{"a legacy one", `{"_meta":{"progressToken":"a"}}`, era.Meta{}, "_meta lacks ~protocolVersion"},
		{"capabilities alone", `{"_meta":{"~clientCapabilities":{}}}`, era.Meta{Capabilities: []byte(`{}`)}, "_meta lacks ~protocolVersion"},
		{"a version that is no string", `{"_meta":{"~protocolVersion":20260728,"~clientCapabilities":{}}}`, era.Meta{HasVersion: true, Capabilities: []byte(`{}`)}, "_meta: ~protocolVersion must be a string"},
		{"a version that is null", `{"_meta":{"~protocolVersion":null,"~clientCapabilities":{}}}`, era.Meta{HasVersion: true, Capabilities: []byte(`{}`)}, "_meta: ~protocolVersion must be a string"},
		{"an empty version", `{"_meta":{"~protocolVersion":"","~clientCapabilities":{}}}`, era.Meta{HasVersion: true, Capabilities: []byte(`{}`)}, "_meta: ~protocolVersion must be a string"},
		{"no capabilities", `{"_meta":{"~protocolVersion":"2026-07-28"}}`, era.Meta{Version: "2026-07-28", HasVersion: true}, "_meta: ~clientCapabilities must be an object"},
		{"capabilities that are no object", `{"_meta":{"~protocolVersion":"2026-07-28","~clientCapabilities":[]}}`, era.Meta{Version: "2026-07-28", HasVersion: true}, "_meta: ~clientCapabilities must be an object"},
		{
			"the rest of another kind", `{"_meta":{"~protocolVersion":"2026-07-28","~clientCapabilities":{},"~clientInfo":"cat","~logLevel":7}}`,
			era.Meta{Version: "2026-07-28", HasVersion: true, Capabilities: []byte(`{}`)},
			"",
		},
		{
			"a client without a name", `{"_meta":{"~protocolVersion":"2026-07-28","~clientCapabilities":{},"~clientInfo":{"name":7}}}`,
			era.Meta{Version: "2026-07-28", HasVersion: true, Capabilities: []byte(`{}`), ClientInfo: []byte(`{"name":7}`)},
			"",
		},
	} {
		t.Run(c.rule, func(t *testing.T) {
			m := era.ReadMeta([]byte(full(c.params)))
			if m.Version != c.want.Version || m.HasVersion != c.want.HasVersion || m.ClientName != c.want.ClientName || m.LogLevel != c.want.LogLevel ||
				string(m.Capabilities) != string(c.want.Capabilities) || string(m.ClientInfo) != string(c.want.ClientInfo) ||
				(m.Capabilities == nil) != (c.want.Capabilities == nil) || (m.ClientInfo == nil) != (c.want.ClientInfo == nil) {
				t.Errorf("ReadMeta = %+v, want %+v", m, c.want)
			}
			if got := m.Missing(); got != full(c.missing) {
				t.Errorf("Missing() = %q, want %q", got, full(c.missing))
			}
		})
	}
}

// An editedCase is a document and its expected result; "": unchanged.
type editedCase struct{ rule, in, want string }

func checkEdited(t *testing.T, edit func([]byte) []byte, cases []editedCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.rule, func(t *testing.T) {
			in := []byte(full(c.in))
			got, want := edit(in), full(c.want)
			if c.want == "" {
				want = full(c.in)
				if unsafe.SliceData(got) != unsafe.SliceData(in) {
					t.Errorf("%s was copied", in)
				}
			}
			if string(got) != want {
				t.Errorf("%s\n became %s\n   want %s", in, got, want)
			}
			if string(in) != full(c.in) {
				t.Errorf("the document was changed to %s", in)
			}
		})
	}
}

func TestWithoutMeta(t *testing.T) {
	checkEdited(t, era.WithoutMeta, []editedCase{
		{"what only modern servers know goes", `{"_meta":{"~protocolVersion":"x","progressToken":7,"~clientCapabilities":{"a":{}},"~clientInfo":{},"~logLevel":"info"},"name":"n"}`, `{"_meta":{"progressToken":7},"name":"n"}`},
		{"what stays keeps its bytes", "{ \"a\" :12345678901234567890, \"_meta\":\t{ \"traceparent\" : \"\\u0030\" , \"~logLevel\":\"info\" , \"x\":[ ] } }", "{ \"a\" :12345678901234567890, \"_meta\":\t{ \"traceparent\" : \"\\u0030\" , \"x\":[ ] } }"},
		{"an _meta left empty goes", `{"_meta":{"~protocolVersion":"x"},"name":"n"}`, `{"name":"n"}`},
		{"an _meta left empty goes from the end", `{"name":"n" , "_meta":{"~protocolVersion":"x"}}`, `{"name":"n"}`},
		{"an _meta left empty goes from between", `{"a":1, "_meta":{"~protocolVersion":"x"}, "b":2}`, `{"a":1, "b":2}`},
		{"nothing else", ` {"_meta":{"~protocolVersion":"x"}} `, ` {} `},
		{"an _meta that was empty stays", `{"_meta":{},"name":"n"}`, ""},
		{"other members of the protocol stay", `{"_meta":{"~subscriptionId":1,"~serverInfo":{},"~related-task":{}}}`, ""},
		{"such names elsewhere stay", `{"~protocolVersion":"x","arguments":{"_meta":{"~protocolVersion":"x"}}}`, ""},
		{"an _meta that is no object stays", `{"_meta":"~protocolVersion"}`, ""},
		{"escaped names", `{"\u005fmeta":{"io.modelcontextprotocol\/logLevel":1,"a":1}}`, `{"\u005fmeta":{"a":1}}`},
		{"params that are an array", `["_meta"]`, ""},
	})
	if got := era.WithoutMeta(nil); got != nil {
		t.Errorf("WithoutMeta(nil) = %q", got)
	}
}
