package app

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"secateur/internal/mcp/templates"
	"secateur/internal/ops/admin"
)

const noteTemplate = `{"name":"note","uri_template":"note://{topic}","mime_type":"text/markdown","text":"About {topic}."}`

func TestControlTemplates(t *testing.T) {
	c := control(t, controlDemo)
	if list := get[admin.Page[admin.Template]](t, c, "/templates"); len(list.Items) != 0 || list.Items == nil {
		t.Errorf("at first: %+v", list)
	}
	res, body := c.ask(t, "POST", "/templates", noteTemplate)
	var made admin.Template
	if err := json.Unmarshal([]byte(body), &made); err != nil || res.StatusCode != http.StatusCreated || res.Header.Get("Location") != "/api/v1/templates/note" ||
		made != (admin.Template{Name: "note", URITemplate: "note://{topic}", MIMEType: "text/markdown", Text: "About {topic}."}) {
		t.Fatalf("POST: %d %s, Location %q", res.StatusCode, body, res.Header.Get("Location"))
	}
	if got := get[admin.Page[admin.Template]](t, c, "/templates").Items; len(got) != 1 || got[0] != made {
		t.Errorf("listed: %+v", got)
	}
	if again := templates.Open(c.stateFile("templates"), c.log).List(); len(again) != 1 || admin.Template(again[0]) != made {
		t.Errorf("after a restart: %+v", again)
	}
	seen, _ := c.ask(t, "GET", "/templates/note", "")
	for _, ask := range []struct {
		method, path, body string
		header             []string
		status             int
		part               string
	}{
		{"POST", "/templates", noteTemplate, nil, 409, "already there"},
		{"POST", "/templates", strings.Replace(noteTemplate, `"note"`, `"other"`, 1), nil, 409, "another template"},
		{"POST", "/templates", `{"name":"x","uri_template":"nothing","text":""}`, nil, 400, "uri_template"},
		{"POST", "/templates", `{"name":"x","uri_template":"x:{y}","text":"","more":1}`, nil, 400, "more"},
		{"PUT", "/templates/none", noteTemplate, nil, 404, "none"},
		{"PUT", "/templates/note", strings.Replace(noteTemplate, `"note"`, `"other"`, 1), nil, 400, "keeps its name"},
		{"PUT", "/templates/note", noteTemplate, []string{"If-Match", `W/"other"`}, 412, "it has changed"},
		{"DELETE", "/templates/note", "", []string{"If-Match", `W/"other"`}, 412, "it has changed"},
		{"DELETE", "/templates/none", "", nil, 404, "none"},
		{"GET", "/templates/none", "", nil, 404, "none"},
	} {
		res, body := c.ask(t, ask.method, ask.path, ask.body, ask.header...)
		wantProblem(t, res, body, ask.status, "invalid_request", ask.part)
	}
	res, body = c.ask(t, "PUT", "/templates/note", `{"uri_template":"note://{topic}","text":"Anew."}`, "If-Match", seen.Header.Get("ETag"))
	if res.StatusCode != http.StatusOK || !strings.Contains(body, `"mime_type":"text/plain"`) || !strings.Contains(body, "Anew.") {
		t.Errorf("PUT: %d %s", res.StatusCode, body)
	}
	// The templates' server joins with the first and leaves with the last.
	if res, body := c.ask(t, "GET", "/servers/secateur", ""); res.StatusCode != http.StatusOK || !strings.Contains(body, `"transport":"builtin"`) {
		t.Errorf("GET /servers/secateur: %d %s", res.StatusCode, body)
	}
	if res, body := c.ask(t, "DELETE", "/templates/note", ""); res.StatusCode != http.StatusNoContent || body != "" {
		t.Errorf("DELETE: %d %s", res.StatusCode, body)
	}
	if res, _ := c.ask(t, "GET", "/servers/secateur", ""); res.StatusCode != http.StatusNotFound {
		t.Errorf("without templates: %d", res.StatusCode)
	}
}

// Templates that the rules deny at the control plane are not shown.
func TestControlTemplatesUnderRules(t *testing.T) {
	c := control(t, controlDemo+"[[acl]]\ndoor = \"admin\"\nresource = \"hidden:*\"\naction = \"deny\"\n")
	for _, body := range []string{noteTemplate, `{"name":"hidden","uri_template":"hidden://{x}","text":""}`} {
		if res, body := c.ask(t, "POST", "/templates", body); res.StatusCode != http.StatusCreated {
			t.Fatalf("POST: %d %s", res.StatusCode, body)
		}
	}
	if got := get[admin.Page[admin.Template]](t, c, "/templates").Items; len(got) != 1 || got[0].Name != "note" {
		t.Errorf("listed: %+v", got)
	}
	for _, method := range []string{"GET", "PUT", "DELETE"} {
		res, body := c.ask(t, method, "/templates/hidden", noteTemplate)
		wantProblem(t, res, body, 404, "invalid_request", "hidden")
	}
}

// bearer sends a token with every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// mcpClient is a client of the official SDK with its notifications.
type mcpClient struct {
	*mcp.ClientSession
	listed, updated chan string
}

func connectSDK(t *testing.T, url, token string) mcpClient {
	t.Helper()
	c := mcpClient{listed: make(chan string, 100), updated: make(chan string, 100)}
	client := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, &mcp.ClientOptions{
		ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) { c.listed <- "" },
		ResourceUpdatedHandler:     func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { c.updated <- r.Params.URI },
	})
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer(token)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.ClientSession = session
	return c
}

// templatesOf returns the URI templates that a client finds.
func (c mcpClient) templatesOf(t *testing.T) string {
	t.Helper()
	list, err := c.ListResourceTemplates(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, template := range list.ResourceTemplates {
		all = append(all, template.URITemplate)
	}
	return strings.Join(all, " ")
}

// Clients find a template, read it, subscribe and hear of its changes, unless the rules deny it.
func TestClientsHaveTheTemplates(t *testing.T) {
	r := startReloadable(t, demo1+tokenRow("alice", "token-a", "roles = [\"admin\"]\n")+tokenRow("bob", "token-b", "")+
		"[[acl]]\nsubject = \"bob\"\nserver = \"secateur\"\naction = \"deny\"\n")
	web := httptest.NewServer(r.App)
	defer web.Close()
	admin := func(method, path, body string) {
		t.Helper()
		if status, text := r.do(method, "/api/v1/templates"+path, body, "Authorization", "Bearer token-a"); status >= 300 {
			t.Fatalf("%s %s: %d %s", method, path, status, text)
		}
	}
	alice, bob := connectSDK(t, web.URL+"/mcp", "token-a"), connectSDK(t, web.URL+"/mcp", "token-b")
	defer alice.Close()
	defer bob.Close()
	if got := alice.templatesOf(t) + bob.templatesOf(t); got != "" {
		t.Fatalf("at first: %s", got)
	}
	admin("POST", "", noteTemplate)
	<-alice.listed
	const shown, uri = "proxy://t/secateur/note://{topic}", "proxy://t/secateur/note://go"
	if got := alice.templatesOf(t); got != shown {
		t.Errorf("alice finds %q", got)
	}
	if got := bob.templatesOf(t); got != "" {
		t.Errorf("bob finds %q", got)
	}
	read := func() string {
		t.Helper()
		found, err := alice.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err != nil || len(found.Contents) != 1 {
			t.Fatalf("ReadResource: %+v, %v", found, err)
		}
		return found.Contents[0].URI + " " + found.Contents[0].MIMEType + " " + found.Contents[0].Text
	}
	if got := read(); got != uri+" text/markdown About go." {
		t.Errorf("read %q", got)
	}
	if err := alice.Subscribe(t.Context(), &mcp.SubscribeParams{URI: uri}); err != nil {
		t.Fatal(err)
	}
	if _, err := bob.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err == nil {
		t.Error("bob reads it")
	}
	// Modern era: templates that the rules deny are left out.
	if err := bob.Subscribe(t.Context(), &mcp.SubscribeParams{URI: uri}); err != nil {
		t.Fatal(err)
	}
	legacy := []string{"Authorization", "Bearer token-b", "Content-Type", "application/json", "Accept", "application/json, text/event-stream"}
	session := r.initialize("Authorization", "Bearer token-b")
	if _, body := r.do("POST", "/mcp", `{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"`+uri+`"}}`, append(legacy, "Mcp-Session-Id", session)...); !strings.Contains(body, `"error"`) {
		t.Errorf("bob of the legacy era subscribes: %s", body)
	}
	admin("PUT", "/note", strings.Replace(noteTemplate, "About", "More about", 1))
	if got := <-alice.updated; got != uri {
		t.Errorf("alice hears of %q", got)
	}
	if got := read(); !strings.HasSuffix(got, "More about go.") {
		t.Errorf("read %q", got)
	}
	// Another template changes the list; the existing server reports it.
	admin("POST", "", `{"name":"more","uri_template":"more://{x}","text":"{x}"}`)
	<-alice.listed
	if got := alice.templatesOf(t); got != "proxy://t/secateur/more://{x} "+shown {
		t.Errorf("alice finds %q", got)
	}
	admin("DELETE", "/more", "")
	admin("DELETE", "/note", "")
	<-alice.listed
	eventually(t, func() bool { return alice.templatesOf(t) == "" }, "the templates are still there")
	if _, err := alice.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err == nil {
		t.Error("a template that was deleted is read")
	}
	select {
	case uri := <-bob.updated:
		t.Errorf("bob hears of %s", uri)
	default:
	}
}
