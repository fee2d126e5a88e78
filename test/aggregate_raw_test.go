package test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

var legacyVersions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}

// Every revision of the protocol, written by hand, over every transport that it has.
func TestAggregateOverHTTP(t *testing.T) {
	config, dir := threeServers(t)
	p := start(t, config)
	t.Run("2024-11-05 HTTP+SSE", func(t *testing.T) {
		talk(t, sseClient(t, p, "/mcp"), dir)
	})
	for _, version := range append(legacyVersions[1:], modern) {
		t.Run(version, func(t *testing.T) {
			c := httpClient(t, p, "/mcp", version)
			c.opened = func() { c.listen(p, "/mcp") }
			talk(t, c, dir)
			again := httpClient(t, p, "/mcp", version) // now that every server has started
			again.capabilities = c.capabilities
			if hello := again.open(); !strings.Contains(hello, "# everything\\n\\n# Everything Server") {
				t.Errorf("the handshake lacks the servers' instructions: %.400s", hello)
			}
		})
	}
}

func TestAggregateOverStdio(t *testing.T) {
	config, dir := threeServers(t)
	file := configFile(t, patient(config))
	for _, version := range append(slices.Clone(legacyVersions), modern) {
		t.Run(version, func(t *testing.T) {
			c, cmd := stdioClient(t, version, file)
			talk(t, c, dir)
			c.close()
			if code := cmd.ProcessState.ExitCode(); code != 0 {
				t.Errorf("exit code %d after its input ended, want 0", code)
			}
		})
	}
}

// talk sends a gateway in front of npm's three servers everything that a client may ask.
func talk(t *testing.T, c *client, dir string) {
	t.Helper()
	c.capabilities = `{"sampling":{},"elicitation":{},"roots":{"listChanged":true}}`
	if c.version >= modern {
		// A server may ask for roots at any time, in whichever call runs.
		c.capabilities = `{"sampling":{},"elicitation":{}}`
	}
	c.answer = func(method string, params json.RawMessage) string {
		switch method {
		case "roots/list":
			return fmt.Sprintf(`{"roots":[{"uri":"file://%s","name":"the test's"}]}`, dir)
		case "sampling/createMessage":
			if !strings.Contains(string(params), `"secateur/server":"everything"`) {
				t.Errorf("sampling/createMessage does not say who asks: %s", params)
			}
			return `{"role":"assistant","content":{"type":"text","text":"sampled"},"model":"m","stopReason":"endTurn"}`
		case "elicitation/create":
			return `{"action":"accept","content":{"name":"Ada"}}`
		case "ping":
			return `{}`
		}
		return ""
	}
	hello := c.open()
	for _, want := range []string{`"tools":{`, `"resources":{`, `"prompts":{`, `"completions":{`, `"logging":{`, `"listChanged":true`, `"subscribe":true`} {
		if !strings.Contains(hello, want) {
			t.Errorf("the handshake lacks %s: %.400s", want, hello)
		}
	}
	if c.version < modern && !strings.Contains(hello, fmt.Sprintf(`"protocolVersion":%q`, c.version)) {
		t.Errorf("the handshake is not in %s: %.200s", c.version, hello)
	}

	for _, name := range []string{"everything::echo", "files::read_text_file", "memory::read_graph", "pruner::recover_text"} {
		if !strings.Contains(c.result("tools/list", ""), fmt.Sprintf(`"name":%q`, name)) {
			t.Errorf("tools/list lacks %s", name)
		}
	}
	if got := c.tool("everything::echo", `{"message":"Grüße 🌿"}`); got != "Echo: Grüße 🌿" {
		t.Errorf("echo: %q", got)
	}
	if got := c.tool("files::read_text_file", fmt.Sprintf(`{"path":%q}`, dir+"/note.txt")); got != "a line to be read\n" {
		t.Errorf("read_text_file: %q", got)
	}
	if got := c.tool("memory::read_graph", `{}`); !strings.Contains(got, "entities") {
		t.Errorf("read_graph: %q", got)
	}
	talkResources(t, c)
	talkPrompts(t, c)
	talkBack(t, c)
	talkErrors(t, c)
}

// proxied returns the gateway's name of a server's resource.
func proxied(server, uri string) string {
	return "proxy://resource/" + base64.StdEncoding.EncodeToString(fmt.Appendf(nil, `{"server":%q,"uri":%q}`, server, uri))
}

func talkResources(t *testing.T, c *client) {
	t.Helper()
	uri := proxied("everything", "demo://resource/static/document/features.md")
	if list := c.result("resources/list", ""); !strings.Contains(list, fmt.Sprintf(`"uri":%q`, uri)) {
		t.Errorf("resources/list lacks %s: %.400s", uri, list)
	}
	if read := c.result("resources/read", fmt.Sprintf(`{"uri":%q}`, uri)); !strings.Contains(read, fmt.Sprintf(`"uri":%q`, uri)) || !strings.Contains(read, "Everything Server") {
		t.Errorf("resources/read: %.300s", read)
	}
	template := "proxy://t/everything/demo://resource/dynamic/text/{resourceId}"
	if list := c.result("resources/templates/list", ""); !strings.Contains(list, fmt.Sprintf(`"uriTemplate":%q`, template)) {
		t.Errorf("resources/templates/list lacks %s: %.400s", template, list)
	}
	expanded := strings.Replace(template, "{resourceId}", "7", 1)
	if read := c.result("resources/read", fmt.Sprintf(`{"uri":%q}`, expanded)); !strings.Contains(read, "Resource 7") {
		t.Errorf("resources/read of an expanded template: %.300s", read)
	}
	complete := c.result("completion/complete", fmt.Sprintf(`{"ref":{"type":"ref/resource","uri":%q},"argument":{"name":"resourceId","value":"3"}}`, template))
	if !strings.Contains(complete, `"values":["3"]`) {
		t.Errorf("completion/complete of a template: %s", complete)
	}
	if c.version >= modern {
		return // the modern era has none of these
	}
	c.result("resources/subscribe", fmt.Sprintf(`{"uri":%q}`, expanded))
	c.tool("everything::toggle-subscriber-updates", `{}`)
	eventually(t, time.Minute, "an update of the subscribed resource", func() bool {
		return slices.ContainsFunc(c.notices("notifications/resources/updated"), func(p string) bool { return strings.Contains(p, expanded) })
	})
	c.tool("everything::toggle-subscriber-updates", `{}`)
	c.result("resources/unsubscribe", fmt.Sprintf(`{"uri":%q}`, expanded))
}

func talkPrompts(t *testing.T, c *client) {
	t.Helper()
	if list := c.result("prompts/list", ""); !strings.Contains(list, `"name":"everything::args-prompt"`) {
		t.Errorf("prompts/list: %.300s", list)
	}
	if got := c.result("prompts/get", `{"name":"everything::args-prompt","arguments":{"city":"Paris"}}`); !strings.Contains(got, "Paris") {
		t.Errorf("prompts/get: %.300s", got)
	}
	got := c.result("completion/complete", `{"ref":{"type":"ref/prompt","name":"everything::completable-prompt"},"argument":{"name":"department","value":"S"}}`)
	if !strings.Contains(got, `"Sales"`) {
		t.Errorf("completion/complete of a prompt: %s", got)
	}
}

// talkBack makes the server ask the client, and report the answers.
func talkBack(t *testing.T, c *client) {
	t.Helper()
	if c.version < modern {
		if got := c.tool("everything::trigger-sampling-request", `{"prompt":"hi"}`); !strings.Contains(got, "sampled") {
			t.Errorf("sampling: %q", got)
		}
		if got := c.tool("everything::get-roots-list", `{}`); !strings.Contains(got, "the test's") {
			t.Errorf("roots: %q", got)
		}
		if got := c.result("tools/call", `{"name":"everything::trigger-elicitation-request","arguments":{}}`); !strings.Contains(got, "Ada") {
			t.Errorf("elicitation: %q", got)
		}
		c.result("logging/setLevel", `{"level":"warning"}`)
		if got := c.result("ping", ""); got != "{}" {
			t.Errorf("ping: %s", got)
		}
	} else {
		talkModern(t, c)
	}
	for _, token := range []string{`"tok"`, `7`} {
		c.result("tools/call", fmt.Sprintf(`{"name":"everything::trigger-long-running-operation","arguments":{"duration":0.2,"steps":2},"_meta":{"progressToken":%s}}`, token))
		n := 0
		for _, p := range c.notices("notifications/progress") {
			if strings.Contains(p, `"progressToken":`+token) {
				n++
			}
		}
		if n < 2 {
			t.Errorf("%d progress notifications for the token %s, want 2: %q", n, token, c.notices("notifications/progress"))
		}
	}
}

// inputRequired is a result that asks the client for something.
type inputRequired struct {
	ResultType    string `json:"resultType"`
	InputRequests map[string]struct {
		Method string `json:"method"`
	} `json:"inputRequests"`
	RequestState string `json:"requestState"`
}

// talkModern answers a legacy server's requests by retrying, as the modern era requires.
func talkModern(t *testing.T, c *client) {
	t.Helper()
	for tool, want := range map[string]struct{ arguments, method, answer, text string }{
		"everything::trigger-sampling-request":    {`{"prompt":"hi"}`, "sampling/createMessage", `{"role":"assistant","content":{"type":"text","text":"sampled"},"model":"m"}`, "sampled"},
		"everything::trigger-elicitation-request": {`{}`, "elicitation/create", `{"action":"accept","content":{"name":"Ada"}}`, "Ada"},
	} {
		try := func(state, responses string) message {
			t.Helper()
			return c.call("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s,"inputResponses":{%s},"requestState":%q}`, tool, want.arguments, responses, state))
		}
		asked := readInputRequired(t, c.result("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, want.arguments)))
		if m := try(asked.RequestState+"x", ""); m.Error == nil {
			t.Errorf("%s with a state that nobody gave out: %.400s", tool, m.raw)
		}
		// Asked again.
		asked = readInputRequired(t, string(try(asked.RequestState, `"wrong":{"action":"accept"}`).Result))
		// The server may ask for other things meanwhile.
		for range 5 {
			key, method := "", ""
			for key = range asked.InputRequests {
				method = asked.InputRequests[key].Method
			}
			answer := want.answer
			if method == "roots/list" {
				answer = `{"roots":[]}`
			} else if method != want.method {
				t.Errorf("%s asks for %s, want %s", tool, method, want.method)
			}
			m := try(asked.RequestState, fmt.Sprintf(`%q:%s`, key, answer))
			if !strings.Contains(string(m.Result), `"input_required"`) {
				if !strings.Contains(string(m.Result), want.text) || !strings.Contains(string(m.Result), `"resultType":"complete"`) {
					t.Errorf("%s after the answer: %.400s", tool, m.raw)
				}
				break
			}
			asked = readInputRequired(t, string(m.Result))
		}
	}
}

func readInputRequired(t *testing.T, result string) (asked inputRequired) {
	t.Helper()
	if err := json.Unmarshal([]byte(result), &asked); err != nil || asked.ResultType != "input_required" || len(asked.InputRequests) != 1 || asked.RequestState == "" {
		t.Fatalf("%v: %.400s, want one input request and a state", err, result)
	}
	return asked
}

func talkErrors(t *testing.T, c *client) {
	t.Helper()
	if m := c.call("no/such", ""); m.Error == nil || m.Error.Code != -32601 || c.version >= modern && m.status != 0 && m.status != http.StatusNotFound {
		t.Errorf("unknown method: HTTP %d %s", m.status, m.raw)
	}
	for _, name := range []string{"nobody::echo", "everything::nothing"} {
		m := c.call("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{}}`, name))
		if m.Error == nil && !strings.Contains(m.raw, `"isError":true`) {
			t.Errorf("unknown tool %s: %.300s", name, m.raw)
		}
	}
	if m := c.call("resources/read", `{"uri":"proxy://resource/bm9uc2Vuc2U="}`); m.Error == nil {
		t.Errorf("unknown resource: %.300s", m.raw)
	}
	if m := c.call("tools/list", `{"cursor":"bm9uc2Vuc2U="}`); m.Error == nil || m.Error.Code != -32602 {
		t.Errorf("a cursor that nobody gave out: %.300s", m.raw)
	}
}

// listAll follows the pages of tools/list and returns the distinct names and the number of pages.
func listAll(t *testing.T, c *client, more string) (names map[string]bool, pages int) {
	t.Helper()
	names = map[string]bool{}
	for cursor := ""; pages < 1000; pages++ {
		var list struct {
			Tools []struct {
				Name string `json:"name"`
			} `json:"tools"`
			NextCursor string `json:"nextCursor"`
		}
		params := strings.TrimPrefix(more, ",")
		if cursor != "" {
			params = fmt.Sprintf(`"cursor":%q%s`, cursor, more)
		}
		if err := json.Unmarshal([]byte(c.result("tools/list", "{"+params+"}")), &list); err != nil {
			t.Fatal(err)
		}
		for _, tool := range list.Tools {
			if names[tool.Name] {
				t.Errorf("%s is listed twice", tool.Name)
			}
			names[tool.Name] = true
		}
		if cursor = list.NextCursor; cursor == "" {
			return names, pages + 1
		}
	}
	t.Fatal("the list has no end")
	return nil, 0
}

// A client is asked nothing before it has said that it is ready.
func TestNothingIsAskedBeforeTheClientIsReady(t *testing.T) {
	config, dir := filesAndMemory(t)
	p := start(t, config)
	file := configFile(t, patient(config))
	stdio, _ := stdioClient(t, "2025-11-25", file)
	for name, c := range map[string]*client{"stdio": stdio, "HTTP+SSE": sseClient(t, p, "/mcp")} {
		t.Run(name, func(t *testing.T) {
			var ready atomic.Bool
			asked := make(chan string, 10)
			c.answer = func(method string, _ json.RawMessage) string {
				if !ready.Load() {
					t.Errorf("%s before notifications/initialized", method)
				}
				asked <- method
				return fmt.Sprintf(`{"roots":[{"uri":"file://%s"}]}`, dir)
			}
			c.result("initialize", `{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"raw","version":"1"}}`)
			time.Sleep(time.Second) // the filesystem server asks as soon as it is up
			ready.Store(true)
			c.notify("notifications/initialized", "")
			select {
			case method := <-asked:
				if method != "roots/list" {
					t.Errorf("it asks for %s", method)
				}
			case <-time.After(time.Minute):
				t.Error("nothing is asked once it is ready")
			}
		})
	}
}

// A client that frames its messages by Content-Length gets answers in the same framing.
func TestContentLengthFrames(t *testing.T) {
	cmd := exec.Command(secateur(t), "stdio", "--config", configFile(t, patient(peerConfig(t, "a", "plain"))))
	cmd.Stderr = t.Output()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	ask := func(body string) (answer string) {
		t.Helper()
		fmt.Fprintf(in, "Content-Length: %d\r\n\r\n%s", len(body), body)
		for answer == "" || strings.Contains(answer, `"method"`) {
			header, err := textproto.NewReader(lines).ReadMIMEHeader()
			if err != nil {
				t.Fatalf("no frame: %v", err)
			}
			length, err := strconv.Atoi(header.Get("Content-Length"))
			if err != nil {
				t.Fatalf("%v: %v", header, err)
			}
			text := make([]byte, length)
			if _, err := io.ReadFull(lines, text); err != nil {
				t.Fatal(err)
			}
			answer = string(text)
		}
		return answer
	}
	if a := ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`); !strings.Contains(a, `"protocolVersion":"2025-06-18"`) {
		t.Errorf("initialize: %.300s", a)
	}
	fmt.Fprintf(in, "Content-Length: 54\r\n\r\n%s", `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if a := ask(call(2, "a::echo", `{"nonce":"framed"}`)); !strings.Contains(a, "framed") {
		t.Errorf("echo: %.300s", a)
	}
	if a := ask(`{"jsonrpc":"2.0","id":3,"method":`); !strings.Contains(a, `-32700`) {
		t.Errorf("broken JSON: %.300s", a)
	}
	_ = in.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("after its input ended: %v", err)
	}
}
