package era_test

import (
	"testing"

	"secateur/internal/mcp/era"
)

func TestResultType(t *testing.T) {
	for doc, want := range map[string]string{
		`{"resultType":"complete"}`:                    "complete",
		`{"content":[],"resultType":"input_required"}`: "input_required",
		`{"\u0072esultType":"t\u0061sk"}`:              "task",
		`{}`:                                           "complete",
		`{"structuredContent":{"resultType":"task"}}`:  "complete",
		`{"resultType":null}`:                          "complete",
		`{"resultType":7}`:                             "",
		`{"resultType":""}`:                            "",
		`{"resultType":"novel"}`:                       "novel",
		`[]`:                                           "complete",
		``:                                             "complete",
		`{"resultType":"task","resultType":"complete"}`:      "complete",
		`{"a":"\"resultType\":\"task\"","b":"resultType"}`:   "complete",
		`{"a":{"b":[{"resultType":"task"}]},"resultType":1}`: "",
	} {
		if got := era.ResultType([]byte(doc)); got != want {
			t.Errorf("ResultType(%s) = %q, want %q", doc, got, want)
		}
	}
}

func TestResultToLegacy(t *testing.T) {
	checkEdited(t, era.ResultToLegacy, []editedCase{
		{"what legacy clients do not know goes", `{"resultType":"complete","tools":[],"ttlMs":5,"cacheScope":"public","nextCursor":"x"}`, `{"tools":[],"nextCursor":"x"}`},
		{"what stays keeps its bytes", "{\r\n \"ttlMs\" : 5 ,\n \"n\" : 12345678901234567890 , \"r\\u0065sultType\":\"complete\"\n}", "{\r\n \"n\" : 12345678901234567890\n}"},
		{"nothing else", `{ "resultType":"complete" }`, `{  }`},
		{"such names deeper stay", `{"structuredContent":{"resultType":1,"ttlMs":2},"_meta":{"cacheScope":3}}`, ""},
		{"a name that comes twice", `{"a":1,"ttlMs":1,"a":2,"ttlMs":2}`, `{"a":1,"a":2}`},
		{"no object", `["resultType"]`, ""},
		{"none of it", `{"content":[]}`, ""},
	})
}

func TestResultToModern(t *testing.T) {
	for _, c := range []struct{ rule, method, in, info, want string }{
		{"a type", "tools/call", `{"content":[]}`, "", `{"content":[],"resultType":"complete"}`},
		{"an empty result", "ping", `{}`, "", `{"resultType":"complete"}`},
		{"an empty result with space", "ping", ` { } `, "", ` { "resultType":"complete"} `},
		{"a list that may not be kept", "tools/list", `{"tools":[]}`, "", `{"tools":[],"resultType":"complete","ttlMs":0,"cacheScope":"private"}`},
		{"what is there stays", "prompts/list", `{"ttlMs":9,"prompts":[],"resultType":"complete"}`, "", `{"ttlMs":9,"prompts":[],"resultType":"complete","cacheScope":"private"}`},
		{"null is not there", "resources/read", `{"ttlMs":null,"cacheScope":null,"resultType":null,"contents":[]}`, "", `{"ttlMs":0,"cacheScope":"private","resultType":"complete","contents":[]}`},
		{"a question is not kept", "resources/read", `{"resultType":"input_required"}`, `{}`, `{"resultType":"input_required","_meta":{"~serverInfo":{}}}`},
		{"a task is not kept", "resources/read", `{"resultType":"task"}`, "", `{"resultType":"task"}`},
		{"who answers", "tools/call", `{"content":[]}`, `{"name":"s"}`, `{"content":[],"resultType":"complete","_meta":{"~serverInfo":{"name":"s"}}}`},
		{"who answers, beside other things", "tools/call", `{"_meta":{"a":1},"content":[]}`, `{"name":"s"}`, `{"_meta":{"a":1,"~serverInfo":{"name":"s"}},"content":[],"resultType":"complete"}`},
		{"who answers, in an empty _meta", "tools/call", `{"_meta":{ }}`, `{"name":"s"}`, `{"_meta":{ "~serverInfo":{"name":"s"}},"resultType":"complete"}`},
		{"who answers is known", "tools/call", `{"_meta":{"io.modelcontextprotocol\/serverInfo":{"name":"z"}}}`, `{"name":"s"}`, `{"_meta":{"io.modelcontextprotocol\/serverInfo":{"name":"z"}},"resultType":"complete"}`},
		{"who answers is null", "tools/call", `{"_meta":{"~serverInfo":null}}`, `{"name":"s"}`, `{"_meta":{"~serverInfo":{"name":"s"}},"resultType":"complete"}`},
		{"an _meta that is null", "tools/call", `{"_meta":null}`, `{"name":"s"}`, `{"_meta":{"~serverInfo":{"name":"s"}},"resultType":"complete"}`},
		{"an _meta of another kind stays", "tools/call", `{"_meta":7}`, `{"name":"s"}`, `{"_meta":7,"resultType":"complete"}`},
		{"no object", "tools/list", `[1]`, `{}`, `[1]`},
		{"what stays keeps its bytes", "tools/call", "{ \"n\" : 12345678901234567890 ,\"\\u0061\":\"\\/\"\n}", "", "{ \"n\" : 12345678901234567890 ,\"\\u0061\":\"\\/\"\n,\"resultType\":\"complete\"}"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			var info []byte
			if c.info != "" {
				info = []byte(c.info)
			}
			in := []byte(full(c.in))
			got := string(era.ResultToModern(c.method, in, info))
			if got != full(c.want) {
				t.Errorf("ResultToModern(%s, %s)\n = %s\nwant %s", c.method, in, got, full(c.want))
			}
			if again := string(era.ResultToModern(c.method, []byte(got), info)); again != got {
				t.Errorf("once more it is %s", again)
			}
		})
	}
	for _, method := range []string{"server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read"} {
		want := `{"resultType":"complete","ttlMs":0,"cacheScope":"private"}`
		if got := string(era.ResultToModern(method, []byte(`{}`), nil)); got != want {
			t.Errorf("ResultToModern(%s, {}) = %s, want %s", method, got, want)
		}
	}
}
