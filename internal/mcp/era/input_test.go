package era_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"secateur/internal/mcp/era"
	"secateur/internal/rawjson"
)

func TestReadInputRequired(t *testing.T) {
	for _, c := range []struct{ rule, in, want, state string }{
		{
			"questions, in order",
			`{"resultType":"input_required","inputRequests":{"z":{"method":"elicitation/create","params":{"n":12345678901234567890}},"\u0061":{"params":null,"method":"roots\/list"}},"requestState":"a\u0062"}`,
			`[z elicitation/create {"n":12345678901234567890}] [a roots/list ]`, `"a\u0062"`,
		},
		{"the type may stand at the end", `{"requestState":"s","inputRequests":{},"resultType":"input_required"}`, ``, `"s"`},
		{"a state alone", `{"resultType":"input_required","requestState":""}`, ``, `""`},
		{"a state of another kind comes back as it is", `{"resultType":"input_required","requestState":{"a":[1]}}`, ``, `{"a":[1]}`},
		{"a state that is null", `{"resultType":"input_required","inputRequests":{},"requestState":null}`, ``, ``},
		{"questions of another kind", `{"resultType":"input_required","inputRequests":{"a":5,"b":{"method":7,"params":[1]}}}`, `[a  ] [b  [1]]`, ``},
		{"of a key that comes twice the last counts", `{"resultType":"input_required","inputRequests":{"a":{"method":"x"},"b":{"method":"y"},"a":{"method":"z"}}}`, `[a z ] [b y ]`, ``},
		{"no object of questions", `{"resultType":"input_required","inputRequests":[{"method":"x"}]}`, ``, ``},
	} {
		t.Run(c.rule, func(t *testing.T) {
			reqs, state, ok := era.ReadInputRequired([]byte(c.in))
			if got := show(reqs); !ok || got != c.want || string(state) != c.state || (state == nil) != (c.state == "") {
				t.Errorf("ReadInputRequired = %s, %s, %v, want %s, %s", got, state, ok, c.want, c.state)
			}
		})
	}
	for _, doc := range []string{`{"inputRequests":{"a":{"method":"x"}},"requestState":"s"}`, `{"resultType":"complete","requestState":"s"}`, `{"resultType":["input_required"]}`, `[]`, ``} {
		if reqs, state, ok := era.ReadInputRequired([]byte(doc)); ok || reqs != nil || state != nil {
			t.Errorf("ReadInputRequired(%s) = %v, %s, %v", doc, reqs, state, ok)
		}
	}
}

func show(reqs []era.InputRequest) string {
	s := ""
	for i, r := range reqs {
		if i > 0 {
			s += " "
		}
		s += fmt.Sprintf("[%s %s %s]", r.Key, r.Method, r.Params)
	}
	return s
}

func TestAppendInputRequired(t *testing.T) {
	for _, c := range []struct {
		rule, state string
		reqs        []era.InputRequest
		want        string
	}{
		{
			"questions and a state", "st\"ate",
			[]era.InputRequest{{Key: "a\n", Method: "roots/list"}, {Key: "b", Method: "elicitation/create", Params: []byte(`{"a": 1}`)}},
			`{"resultType":"input_required","inputRequests":{"a\n":{"method":"roots/list","params":{}},"b":{"method":"elicitation/create","params":{"a": 1}}},"requestState":"st\"ate"}`,
		},
		{"no state", "", []era.InputRequest{{Key: "a", Method: "roots/list"}}, `{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list","params":{}}}}`},
		{"no questions", "s", nil, `{"resultType":"input_required","requestState":"s"}`},
	} {
		if got := string(era.AppendInputRequired([]byte("x"), c.reqs, c.state)); got != "x"+c.want {
			t.Errorf("%s: AppendInputRequired = %s, want x%s", c.rule, got, c.want)
		}
	}
}

func TestRetryParams(t *testing.T) {
	answers := []era.InputResponse{{Key: "a\"", Value: []byte(`{"action": "accept"}`)}, {Key: "b", Value: []byte(`{}`)}}
	const written = `"inputResponses":{"a\"":{"action": "accept"},"b":{}}`
	for _, c := range []struct {
		rule, params string
		answers      []era.InputResponse
		state        string
		want         string
	}{
		{"answers and a state", `{"name":"n"}`, answers, `"s\u0061"`, `{"name":"n",` + written + `,"requestState":"s\u0061"}`},
		{"no state", `{"name":"n"}`, answers, ``, `{"name":"n",` + written + `}`},
		{"no params", ``, answers, ``, `{` + written + `}`},
		{"no answers", `{}`, nil, `"s"`, `{"requestState":"s"}`},
		{"neither", `{"name":"n"}`, nil, ``, `{"name":"n"}`},
		{"an older round gives way", `{"requestState":"old","name" : 12345678901234567890,"inputResponses":{"x":{}}}`, answers, ``, `{"name" : 12345678901234567890,` + written + `}`},
		{"an older round was all", `{"requestState":"old"}`, nil, `"new"`, `{"requestState":"new"}`},
		{"params that are an array stay", `[1]`, answers, `"s"`, `[1]`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			var params, state []byte
			if c.params != "" {
				params = []byte(c.params)
			}
			if c.state != "" {
				state = []byte(c.state)
			}
			if got := string(era.RetryParams(params, c.answers, state)); got != c.want {
				t.Errorf("RetryParams = %s, want %s", got, c.want)
			}
			if string(params) != c.params {
				t.Errorf("the params were changed to %s", params)
			}
		})
	}
}

func TestReadRetry(t *testing.T) {
	for _, c := range []struct {
		rule, params, want, state string
		ok                        bool
	}{
		{"answers and a state", `{"inputResponses":{"b":{"n":1},"\u0061":{}},"requestState":"s\u0061","name":"n"}`, `b={"n":1} a={} `, "sa", true},
		{"answers alone", `{"inputResponses":{}}`, ``, "", true},
		{"a state alone", `{"requestState":"s"}`, ``, "s", true},
		{"a state that is no string", `{"requestState":5}`, ``, "", true},
		{"answers that are no object", `{"inputResponses":[1]}`, ``, "", true},
		{"null is none", `{"inputResponses":null,"requestState":null}`, ``, "", false},
		{"the first time", `{"name":"n","arguments":{"requestState":"s"}}`, ``, "", false},
		{"no params", ``, ``, "", false},
	} {
		t.Run(c.rule, func(t *testing.T) {
			answers, state, ok := era.ReadRetry([]byte(c.params))
			got := ""
			for _, a := range answers {
				got += fmt.Sprintf("%s=%s ", a.Key, a.Value)
			}
			if got != c.want || state != c.state || ok != c.ok {
				t.Errorf("ReadRetry = %s, %q, %v, want %s, %q, %v", got, state, ok, c.want, c.state, c.ok)
			}
		})
	}
}

func TestWithoutRetry(t *testing.T) {
	checkEdited(t, era.WithoutRetry, []editedCase{
		{"both go", `{"inputResponses":{"a":{}},"name":"n","requestState":"s"}`, `{"name":"n"}`},
		{"such names deeper stay", `{"arguments":{"inputResponses":1,"requestState":2}}`, ""},
		{"the first time", `{"name":"n"}`, ""},
	})
}

// TestRoundTrip checks that each side reads the questions and answers that the other writes.
func TestRoundTrip(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"\xed\xa0\x80", "\"", "\\u0061", ""}))
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfNDistinct(text, 0, 5, rapid.ID[string]).Draw(t, "keys")
		state := text.Draw(t, "state")
		var asked []era.InputRequest
		var answers []era.InputResponse
		for _, k := range keys {
			asked = append(asked, era.InputRequest{Key: k, Method: text.Draw(t, "method"), Params: []byte(object(2).Draw(t, "params"))})
			answers = append(answers, era.InputResponse{Key: k, Value: []byte(object(2).Draw(t, "value"))})
		}
		read, raw, ok := era.ReadInputRequired(era.AppendInputRequired(nil, asked, state))
		if !ok || fmt.Sprintf("%q", read) != fmt.Sprintf("%q", asked) || (raw != nil) != (state != "") || raw != nil && rawjson.Unquote(raw) != state {
			t.Fatalf("asked %q with %q, read %q with %s", asked, state, read, raw)
		}
		params := []byte(object(3).Draw(t, "original"))
		retry := era.RetryParams(params, answers, raw)
		got, back, _ := era.ReadRetry(retry)
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", answers) || back != state {
			t.Fatalf("answered %q with %q, read %q with %q from %s", answers, state, got, back, retry)
		}
		if a, b := string(era.WithoutRetry(retry)), string(era.WithoutRetry(params)); refMembersShown(a) != refMembersShown(b) {
			t.Fatalf("%s came back as %s", b, a)
		}
	})
}

func refMembersShown(doc string) string {
	members, _ := refMembers([]byte(doc))
	return refShow(members)
}
