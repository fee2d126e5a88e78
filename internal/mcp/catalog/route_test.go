package catalog_test

import (
	"slices"
	"testing"
	"unsafe"

	"secateur/internal/mcp/catalog"
)

func routes() *catalog.View {
	return catalog.Merge([]catalog.ServerLists{
		{
			Server: "s", Tools: tools("echo", "own::name"), Prompts: items(`{"name":"p"}`),
			Resources: items(`{"uri":"a:1"}`, `{"uri":"a:2"}`), Templates: items(`{"uriTemplate":"t:{x}"}`),
		},
		{Server: "z", Tools: tools("echo"), Resources: items(`{"uri":"a:2"}`)},
	}, nil).For("")
}

func TestRoute(t *testing.T) {
	ours := catalog.EncodeURI("s", "a:1")
	for _, c := range []struct{ rule, method, params, want, wantParams string }{
		{
			"a tool", "tools/call", `{"name":"s::echo","arguments":{"name":"s::echo","n":12345678901234567890},"_meta":{"progressToken":1}}`,
			"s", `{"name":"echo","arguments":{"name":"s::echo","n":12345678901234567890},"_meta":{"progressToken":1}}`,
		},
		{"the name may come last", "tools/call", `{"arguments":{}, "name" : "z\u003a:echo" }`, "z", `{"arguments":{}, "name" : "echo" }`},
		{"a bare name", "tools/call", `{"name":"own::name"}`, "s", `{"name":"own::name"}`},
		{"a prompt", "prompts/get", `{"name":"s::p","arguments":{"a":"b"}}`, "s", `{"name":"p","arguments":{"a":"b"}}`},
		{"a resource", "resources/read", `{"uri":` + quote(ours) + `}`, "s", `{"uri":"a:1"}`},
		{"an expanded template", "resources/read", `{"uri":"proxy://t/s/t:5"}`, "s", `{"uri":"t:5"}`},
		{"a subscription", "resources/subscribe", `{"uri":` + quote(ours) + `}`, "s", `{"uri":"a:1"}`},
		{"its end", "resources/unsubscribe", `{"uri":` + quote(ours) + `}`, "s", `{"uri":"a:1"}`},
		{"a server's own uri", "resources/read", `{"uri":"a:1"}`, "s", `{"uri":"a:1"}`},
		{
			"a prompt's argument", "completion/complete", `{"ref":{"type":"ref/prompt","name":"s::p"},"argument":{"name":"x","value":"s::p"},"context":{}}`,
			"s", `{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"x","value":"s::p"},"context":{}}`,
		},
		{
			"a template's variable", "completion/complete", `{"argument":{"name":"x","value":""}, "ref" : {"uri":"proxy://t/s/t:{x}","type":"ref/resource"}}`,
			"s", `{"argument":{"name":"x","value":""}, "ref" : {"uri":"t:{x}","type":"ref/resource"}}`,
		},
		{
			"a template's variable, by the template's own name", "completion/complete", `{"ref":{"type":"ref/resource","uri":"t:{x}"}}`,
			"s", `{"ref":{"type":"ref/resource","uri":"t:{x}"}}`,
		},
	} {
		t.Run(c.rule, func(t *testing.T) {
			params := []byte(c.params)
			r, err := routes().Route(c.method, params)
			if err != nil || r.Server != c.want || string(r.Params) != c.wantParams {
				t.Errorf("Route = %s %s, %v, want %s %s", r.Server, r.Params, err, c.want, c.wantParams)
			}
			if string(params) != c.params {
				t.Errorf("the params were changed: %s", params)
			}
			if c.params == c.wantParams && unsafe.SliceData(r.Params) != unsafe.SliceData(params) {
				t.Errorf("params that stay were copied")
			}
			if !catalog.Routed(c.method) {
				t.Errorf("Routed(%s) = false", c.method)
			}
		})
	}
}

func TestRouteSaysWhatIsWhat(t *testing.T) {
	r, err := routes().Route("resources/read", []byte(`{"uri":"proxy://t/s/t:5"}`))
	if err != nil || r.URI != "t:5" || r.Asked != "proxy://t/s/t:5" || r.Name != "" {
		t.Errorf("Route = %+v, %v", r, err)
	}
	if want := (catalog.Outgoing{Server: "s", Original: "t:5", Asked: "proxy://t/s/t:5"}); r.Outgoing() != want {
		t.Errorf("Outgoing() = %+v, want %+v", r.Outgoing(), want)
	}
	r, err = routes().Route("tools/call", []byte(`{"name":"s::echo"}`))
	if err != nil || r.Name != "echo" || r.Asked != "s::echo" || r.Outgoing() != (catalog.Outgoing{Server: "s"}) {
		t.Errorf("Route = %+v, %v", r, err)
	}
}

func TestNoRoute(t *testing.T) {
	for _, c := range []struct {
		rule, method, params, path, problem string
		servers                             []string
	}{
		{"an unknown tool", "tools/call", `{"name":"nope"}`, "/name", "unknown tool: nope", nil},
		{"two of a name", "tools/call", `{"name":"echo"}`, "/name", "several servers have a tool echo: s, z", []string{"s", "z"}},
		{"no name", "tools/call", `{"arguments":{"name":"s::echo"}}`, "/name", "name is missing", nil},
		{"a name of another kind", "tools/call", `{"name":["s::echo"]}`, "/name", "expected a string", nil},
		{"no params", "tools/call", ``, "/name", "name is missing", nil},
		{"params that are an array", "tools/call", `["name","s::echo"]`, "/name", "name is missing", nil},
		{"an unknown prompt", "prompts/get", `{"name":"echo"}`, "/name", "unknown prompt: echo", nil},
		{"an unknown resource", "resources/read", `{"uri":"x:y"}`, "/uri", "unknown resource: x:y", nil},
		{"a resource of two", "resources/read", `{"uri":"a:2"}`, "/uri", "several servers have the resource a:2: s, z", []string{"s", "z"}},
		{"no uri", "resources/read", `{}`, "/uri", "uri is missing", nil},
		{"a uri that is null", "resources/subscribe", `{"uri":null}`, "/uri", "expected a string", nil},
		{"no ref", "completion/complete", `{}`, "/ref", "expected an object", nil},
		{"a ref of another kind", "completion/complete", `{"ref":{"type":"ref/tool","name":"s::echo"}}`, "/ref/type", "expected ref/prompt or ref/resource", nil},
		{"a ref without a name", "completion/complete", `{"ref":{"type":"ref/prompt"},"name":"p"}`, "/ref/name", "name is missing", nil},
		{"a method without a server", "ping", `{}`, "", "nothing in ping says which server it is for", nil},
	} {
		t.Run(c.rule, func(t *testing.T) {
			_, err := routes().Route(c.method, []byte(c.params))
			e := paramsError(t, err)
			if e.Path != c.path || e.Error() != c.problem {
				t.Errorf("error at %q: %q, want at %q: %q", e.Path, e, c.path, c.problem)
			}
			if !slices.Equal(e.Servers, c.servers) {
				t.Errorf("Servers = %q, want %q", e.Servers, c.servers)
			}
		})
	}
}

func TestSubscriptionURIs(t *testing.T) {
	for params, want := range map[string][]string{
		`{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a:\u0031", 5,"b"]}}`: {"a:1", "b"},
		`{"notifications":{"resourceSubscriptions":"a:1"}}`:                                       nil,
		`{"notifications":[]}`: nil,
		`{}`:                   nil,
		``:                     nil,
	} {
		if got := catalog.SubscriptionURIs([]byte(params)); !slices.Equal(got, want) {
			t.Errorf("SubscriptionURIs(%s) = %q, want %q", params, got, want)
		}
	}
}

func FuzzRoute(f *testing.F) {
	f.Add("tools/call", []byte(`{"name":"s::echo"}`))
	f.Add("completion/complete", []byte(`{"ref":{"type":"ref/resource","uri":"t:{x}"}}`))
	f.Add("resources/read", []byte(`{"uri":"\u12`))
	f.Add("resources/read", []byte(`{"uri":"proxy://t/s/\\`))
	f.Add("tasks/get", []byte(`{"taskId":"s::1","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"s::1"}}}`))
	f.Fuzz(func(t *testing.T, method string, params []byte) {
		if r, err := routes().Route(method, params); err != nil {
			paramsError(t, err)
		} else if r.Server == "" {
			t.Errorf("Route(%s, %q) has no server", method, params)
		}
		catalog.SubscriptionURIs(params)
		catalog.SubscriptionTasks(params)
		_, _ = catalog.ReadAsk(params)
	})
}
