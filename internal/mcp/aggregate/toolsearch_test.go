package aggregate_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"secateur/internal/access"
	"secateur/internal/access/admission"
	"secateur/internal/mcp/aggregate"
	"secateur/internal/mcp/catalog"
)

// searching has every client find tools.
var searching = catalog.ToolSettings{Mode: catalog.ModeSearch}

const filesTools = `{"tools":[
{"name":"read_file","description":"Read the text of a file. Works below the root only.","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"}},"required":["path"],"additionalProperties":false},"annotations":{"readOnlyHint":true}},
{"name":"write_file","description":"Create a file or overwrite it.","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}},
{"name":"delete_file","description":"Remove a file for good.","inputSchema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}]}`

const weatherTools = `{"tools":[{"name":"get_forecast","description":"Forecast of the weather for a place.","inputSchema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}]}`

// oneLine is a message as a puppet can say it.
func oneLine(list string) json.RawMessage { return json.RawMessage(strings.ReplaceAll(list, "\n", "")) }

func filesPuppet(t *testing.T) *puppet {
	t.Helper()
	return newPuppet(t, nature{ID: "files", Lists: map[string]json.RawMessage{"tools/list": oneLine(filesTools)}})
}

func weatherPuppet(t *testing.T) *puppet {
	t.Helper()
	return newPuppet(t, nature{ID: "weather", Instructions: "Weather of the whole world. Ask for one city at a time.", Lists: map[string]json.RawMessage{"tools/list": json.RawMessage(weatherTools)}})
}

// toolText is the text of a tool's result, and whether it is an error.
func toolText(t *testing.T, answer string) (text string, isError bool) {
	t.Helper()
	var a struct {
		Result struct {
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
			IsError bool `json:"isError"`
		} `json:"result"`
	}
	if err := json.Unmarshal([]byte(answer), &a); err != nil || len(a.Result.Content) == 0 {
		t.Fatalf("no result of a tool: %s", answer)
	}
	for _, c := range a.Result.Content {
		text += c.Text
	}
	return text, a.Result.IsError
}

func listedNames(t *testing.T, answer string) (names []string) {
	t.Helper()
	var a struct {
		Result struct {
			Tools []struct {
				Name string `json:"name"`
			} `json:"tools"`
		} `json:"result"`
	}
	if err := json.Unmarshal([]byte(answer), &a); err != nil {
		t.Fatal(err)
	}
	for _, tool := range a.Result.Tools {
		names = append(names, tool.Name)
	}
	return names
}

func call(name, arguments string) string {
	return fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, arguments)
}

func helloAs(name string) string {
	return fmt.Sprintf(`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":%q,"version":"1"}}`, name)
}

func TestToolsAreFoundInsteadOfListed(t *testing.T) {
	files, weather := filesPuppet(t), weatherPuppet(t)
	c := newPipeClient(t, doorOptions{puppets: []*puppet{files, weather}, tools: searching})
	hello := c.asks(t, "initialize", helloAs("t"))
	if !strings.Contains(hello, "Tools beyond those listed: find_tools") {
		t.Errorf("the model is not told that there are tools to find: %s", hello)
	}
	list := c.asks(t, "tools/list", `{}`)
	if got, want := listedNames(t, list), []string{"find_tools", "describe_tools", "call_tool"}; !slices.Equal(got, want) {
		t.Errorf("listed are %q, want %q", got, want)
	}
	for _, line := range []string{`\n- files: read_file, write_file, delete_file`, `\n- weather: Weather of the whole world.`} {
		if !strings.Contains(list, line) {
			t.Errorf("find_tools does not say %s: %s", line, list)
		}
	}
	for query, want := range map[string]string{
		"files::read_file":             "files::read_file(path: string, limit?: integer) — Read the text of a file.",
		"read_file":                    "files::read_file(",
		"READ FILE":                    "files::read_file(",
		"write_fi":                     "files::write_file(",
		"erase a document":             "files::delete_file(",
		"is it going to rain tomorrow": "weather::get_forecast(",
	} {
		text, isError := toolText(t, c.asks(t, "tools/call", call("find_tools", fmt.Sprintf(`{"query":%q}`, query))))
		if isError || !strings.HasPrefix(text, want) {
			t.Errorf("find_tools %q = %q, want first %q", query, text, want)
		}
	}
	answer := c.asks(t, "tools/call", call("find_tools", `{"query":"read a file","limit":1}`))
	if !strings.Contains(answer, `"structuredContent":{"tools":[{"name":"files::read_file","signature":"(path: string, limit?: integer)","description":"Read the text of a file.","score":`) {
		t.Errorf("structured content: %s", answer)
	}
	if text, _ := toolText(t, answer); strings.Count(text, "\n") != 0 {
		t.Errorf("limit 1 gives %q", text)
	}
	if text, _ := toolText(t, c.asks(t, "tools/call", call("describe_tools", `{"names":["files::read_file","files::nope"]}`))); !strings.Contains(text, `"additionalProperties":false`) || !strings.Contains(text, "unknown tool: files::nope") {
		t.Errorf("describe_tools = %q", text)
	}
}

func TestFoundToolsAreCalledThroughCallToolAndByTheirOwnNames(t *testing.T) {
	files := filesPuppet(t)
	c := newPipeClient(t, doorOptions{puppets: []*puppet{files}, tools: searching})
	c.asks(t, "initialize", helloAs("t"))
	for _, params := range []string{
		call("call_tool", `{"name":"files::read_file","arguments":{"path":"a"}}`),
		call("call_tool", `{"name":"files::read_file","arguments":"{\"path\":\"a\"}"}`), // some models write it so
		call("call_tool", `{"name":"read_file","arguments":{"path":"a"}}`),
		call("files::read_file", `{"path":"a"}`),
		call("files-read_file", `{"path":"a"}`),
	} {
		c.send(t, `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":`+params+`}`)
		got := files.hears(t)
		if string(got.Params) != `{"name":"read_file","arguments":{"path":"a"}}` {
			t.Errorf("%s: the server gets %s", params, got.Params)
		}
		files.say(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"hello"}]}}`, got.ID))
		if got := c.hears(t); got != `{"jsonrpc":"2.0","id":9,"result":{"content":[{"type":"text","text":"hello"}]}}` {
			t.Errorf("%s: answer %s", params, got)
		}
	}
}

func TestProgressOfAFoundToolReachesItsCaller(t *testing.T) {
	files := filesPuppet(t)
	c := newPipeClient(t, doorOptions{puppets: []*puppet{files}, tools: searching})
	c.asks(t, "initialize", helloAs("t"))
	c.send(t, `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"_meta":{"progressToken":"mine"},"name":"call_tool","arguments":{"name":"files::read_file","arguments":{"path":"a"}}}}`)
	got := files.hears(t)
	var p struct {
		Meta struct {
			Token json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	}
	if err := json.Unmarshal(got.Params, &p); err != nil || p.Meta.Token == nil {
		t.Fatalf("the server gets %s", got.Params)
	}
	files.say(t, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, p.Meta.Token))
	if got := c.hears(t); !strings.Contains(got, `"progressToken":"mine"`) {
		t.Errorf("progress: %s", got)
	}
	c.send(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}`)
	if cancelled := files.hears(t); cancelled.Method != "notifications/cancelled" {
		t.Errorf("the server hears %s", cancelled.Method)
	}
}

func TestWrongArgumentsAreAnsweredWithTheSchema(t *testing.T) {
	files := filesPuppet(t)
	c := newPipeClient(t, doorOptions{puppets: []*puppet{files}, tools: searching})
	c.asks(t, "initialize", helloAs("t"))
	for params, want := range map[string]string{
		call("call_tool", `{"name":"files::read_file","arguments":{}}`):                      "path is missing",
		call("call_tool", `{"name":"files::read_file"}`):                                     "path is missing",
		call("files::read_file", `{"file":"a"}`):                                             "file is not one of path, limit",
		call("call_tool", `{"name":"files::read_file","arguments":{"path":{"a":1}}}`):        "path: expected string",
		call("call_tool", `{"name":"files::read_file","arguments":{"path":"a","limit":[]}}`): "limit: expected integer",
	} {
		text, isError := toolText(t, c.asks(t, "tools/call", params))
		if !isError || !strings.Contains(text, want) || !strings.Contains(text, `schema: {"type":"object","properties":{"path"`) {
			t.Errorf("%s: %q, want %q and the schema", params, text, want)
		}
	}
	for _, params := range []string{call("call_tool", `{}`), call("call_tool", `{"name":"files::read_file","arguments":[]}`), call("call_tool", `{"name":"files::read_file","arguments":"{"}`)} {
		if _, isError := toolText(t, c.asks(t, "tools/call", params)); !isError {
			t.Errorf("%s passes", params)
		}
	}
	if strings.Contains(files.sent(), "tools/call") {
		t.Errorf("a call that cannot succeed has reached the server: %s", files.sent())
	}
}

func TestAServersRefusalOfArgumentsComesWithTheSchema(t *testing.T) {
	files := filesPuppet(t)
	c := newPipeClient(t, doorOptions{puppets: []*puppet{files}, tools: searching})
	c.asks(t, "initialize", helloAs("t"))
	for _, said := range []string{`"error":{"code":-32602,"message":"path must be absolute"}`, `"result":{"content":[{"type":"text","text":"Input validation error: path must be absolute"}],"isError":true}`} {
		c.send(t, `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":`+call("call_tool", `{"name":"files::read_file","arguments":{"path":"a"}}`)+`}`)
		files.say(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, files.hears(t).ID, said))
		text, isError := toolText(t, c.hears(t))
		if !isError || !strings.Contains(text, "path must be absolute") || !strings.Contains(text, `schema: {"type":"object"`) {
			t.Errorf("after %s: %q", said, text)
		}
	}
}

func TestAnUnknownToolNamesTheNearest(t *testing.T) {
	c := newPipeClient(t, doorOptions{puppets: []*puppet{filesPuppet(t), weatherPuppet(t)}, tools: searching})
	c.asks(t, "initialize", helloAs("t"))
	text, isError := toolText(t, c.asks(t, "tools/call", call("call_tool", `{"name":"fils::read_file","arguments":{}}`)))
	if !isError || !strings.Contains(text, "unknown tool: fils::read_file; nearest: files::read_file") {
		t.Errorf("call_tool: %q", text)
	}
	if got := c.asks(t, "tools/call", call("file_read", `{}`)); !strings.Contains(got, `"code":-32602`) || !strings.Contains(got, "nearest: files::read_file") {
		t.Errorf("by its own name: %s", got)
	}
}

func TestTheListOfASessionNeverChanges(t *testing.T) {
	files := filesPuppet(t)
	c := newPipeClient(t, doorOptions{puppets: []*puppet{files}, tools: searching})
	c.asks(t, "initialize", helloAs("t"))
	before := c.asks(t, "tools/list", `{}`)
	files.setList("tools/list", weatherTools)
	files.say(t, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	for until := time.Now().Add(patience); time.Now().Before(until); { // the change is not known at once
		if text, _ := toolText(t, c.asks(t, "tools/call", call("find_tools", `{"query":"weather forecast"}`))); strings.HasPrefix(text, "files::get_forecast(") {
			if after := c.asks(t, "tools/list", `{}`); after != before {
				t.Errorf("the list has changed:\n%s\n%s", before, after)
			}
			return
		}
	}
	t.Error("what a server has added is not found")
}

func TestADeniedToolIsAsOneThatDoesNotExist(t *testing.T) {
	const without = `{"tools":[
{"name":"read_file","description":"Read the text of a file. Works below the root only.","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"}},"required":["path"],"additionalProperties":false},"annotations":{"readOnlyHint":true}},
{"name":"write_file","description":"Create a file or overwrite it.","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}}]}`
	rules, err := access.NewRules([]access.Rule{{Tool: access.Globs{"delete_file"}, Action: access.ActionDeny}}, false)
	if err != nil {
		t.Fatal(err)
	}
	talk := func(list string) (said []string) {
		control, err := admission.New(admission.Options{Rules: rules})
		if err != nil {
			t.Fatal(err)
		}
		p := newPuppet(t, nature{ID: "files", Lists: map[string]json.RawMessage{"tools/list": oneLine(list)}})
		c := newPipeClient(t, doorOptions{puppets: []*puppet{p}, tools: searching, control: control})
		c.asks(t, "initialize", helloAs("t"))
		for _, ask := range []struct{ method, params string }{
			{"tools/list", `{}`},
			{"tools/call", call("find_tools", `{"query":"files::delete_file"}`)},
			{"tools/call", call("find_tools", `{"query":"remove a file for good"}`)},
			{"tools/call", call("describe_tools", `{"names":["files::delete_file"]}`)},
			{"tools/call", call("call_tool", `{"name":"files::delete_file","arguments":{"path":"a"}}`)},
			{"tools/call", call("call_tool", `{"name":"files::delete_file","arguments":{}}`)},
			{"tools/call", call("call_tool", `{"name":"delete_file","arguments":{"path":"a"}}`)},
			{"tools/call", call("delete_file", `{}`)},
		} {
			said = append(said, c.asks(t, ask.method, ask.params))
		}
		if strings.Contains(p.sent(), "tools/call") {
			t.Errorf("what is denied has reached the server: %s", p.sent())
		}
		return said
	}
	denied, absent := talk(filesTools), talk(without)
	for i := range denied {
		if denied[i] != absent[i] {
			t.Errorf("denied: %s\nabsent: %s", denied[i], absent[i])
		}
		if strings.Contains(denied[i], "for good") {
			t.Errorf("a denied tool is told: %s", denied[i])
		}
	}
}

func TestSearchIsNotOfferedWhereNothingIsHidden(t *testing.T) {
	tools := searching
	tools.Clients = map[string]catalog.ClientTools{"t": {Pinned: []string{"files::*"}}}
	c := newPipeClient(t, doorOptions{puppets: []*puppet{filesPuppet(t)}, tools: tools})
	c.asks(t, "initialize", helloAs("t"))
	if got, want := listedNames(t, c.asks(t, "tools/list", `{}`)), []string{"files::read_file", "files::write_file", "files::delete_file"}; !slices.Equal(got, want) {
		t.Errorf("listed are %q, want %q", got, want)
	}
}

func TestProfilesOfTools(t *testing.T) {
	own := []string{"find_tools", "describe_tools", "call_tool"}
	all := []string{"files::read_file", "files::write_file", "files::delete_file", "weather::get_forecast"}
	for _, c := range []struct {
		rule, client string
		asked        aggregate.Asked
		tools        catalog.ToolSettings
		want         []string
	}{
		{"the default is the list", "t", aggregate.Asked{}, catalog.DefaultTools(), all},
		{"the address chooses", "t", aggregate.Asked{Tools: catalog.ModeSearch}, catalog.DefaultTools(), own},
		{"a client that searches by itself gets the list", "claude-code", aggregate.Asked{Names: catalog.ClientSettings{Separator: "::"}}, searching, nil},
		{"unless its profile says otherwise", "codex", aggregate.Asked{}, catalog.ToolSettings{Mode: "list", Clients: map[string]catalog.ClientTools{"codex*": {Mode: "search"}}}, own},
		{"few definitions are listed", "t", aggregate.Asked{}, catalog.ToolSettings{Mode: "search", ThresholdTokens: 5000}, all},
		{"many are found", "t", aggregate.Asked{}, catalog.ToolSettings{Mode: "search", ThresholdTokens: 50}, own},
		{"a pinned tool is listed", "t", aggregate.Asked{}, catalog.ToolSettings{Mode: "search", Clients: map[string]catalog.ClientTools{"t": {Pinned: []string{"files::read_*"}}}}, append(slices.Clone(own), "files::read_file")},
		{"a hidden tool is found", "t", aggregate.Asked{}, catalog.ToolSettings{Mode: "list", Clients: map[string]catalog.ClientTools{"t": {Hidden: []string{"files::*"}}}}, append(slices.Clone(own), "weather::get_forecast")},
		{"calls may be split", "t", aggregate.Asked{}, catalog.ToolSettings{Mode: "search", Clients: map[string]catalog.ClientTools{"t": {Split: true}}}, []string{"find_tools", "describe_tools", "call_tool_read", "call_tool_write"}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			p := newPipeClient(t, doorOptions{puppets: []*puppet{filesPuppet(t), weatherPuppet(t)}, tools: c.tools, asked: c.asked})
			p.asks(t, "initialize", helloAs(c.client))
			got := listedNames(t, p.asks(t, "tools/list", `{}`))
			if c.want == nil && len(got) == len(all) && !slices.Contains(got, "find_tools") {
				return
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("listed are %q, want %q", got, c.want)
			}
		})
	}
}

func TestCallToolReadRefusesWhatMayChangeSomething(t *testing.T) {
	tools := searching
	tools.Clients = map[string]catalog.ClientTools{"t": {Split: true}}
	files := filesPuppet(t)
	c := newPipeClient(t, doorOptions{puppets: []*puppet{files}, tools: tools})
	c.asks(t, "initialize", helloAs("t"))
	if text, isError := toolText(t, c.asks(t, "tools/call", call("call_tool_read", `{"name":"files::delete_file","arguments":{"path":"a"}}`))); !isError || !strings.Contains(text, "call_tool_write") {
		t.Errorf("call_tool_read of delete_file: %q", text)
	}
	c.send(t, `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":`+call("call_tool_read", `{"name":"files::read_file","arguments":{"path":"a"}}`)+`}`)
	files.say(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, files.hears(t).ID))
	if got := c.hears(t); !strings.Contains(got, `"result":{}`) {
		t.Errorf("call_tool_read of read_file: %s", got)
	}
}

// Answers stay small however many tools there are and however long their definitions.
func TestAnswersOfASearchAreSmall(t *testing.T) {
	verbs := []string{"create", "list", "delete", "update", "describe"}
	var tools []string
	for i := range 500 {
		var properties []string
		for k := range 20 {
			properties = append(properties, fmt.Sprintf(`"parameter_number_%d":{"type":"string","description":%q}`, k, strings.Repeat("long text ", 20)))
		}
		tools = append(tools, fmt.Sprintf(`{"name":"%s_thing_%d","description":%q,"inputSchema":{"type":"object","properties":{%s},"required":["parameter_number_0","parameter_number_1"]}}`,
			verbs[i%len(verbs)], i, "This does something to thing number and is described at great length without any end in sight "+strings.Repeat("and more of it ", 40), strings.Join(properties, ",")))
	}
	p := newPuppet(t, nature{ID: "many", Lists: map[string]json.RawMessage{"tools/list": json.RawMessage(`{"tools":[` + strings.Join(tools, ",") + `]}`)}})
	c := newPipeClient(t, doorOptions{puppets: []*puppet{p}, tools: searching})
	c.asks(t, "initialize", helloAs("t"))
	var sizes []int
	for i := range 100 {
		text, _ := toolText(t, c.asks(t, "tools/call", call("find_tools", fmt.Sprintf(`{"query":"%s the thing %d"}`, verbs[i%len(verbs)], i))))
		sizes = append(sizes, len([]rune(text))/4)
	}
	slices.Sort(sizes)
	if sizes[len(sizes)-1] > 900 {
		t.Errorf("the longest answer has %d tokens, want at most 900", sizes[len(sizes)-1])
	}
}
