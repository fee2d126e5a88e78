package test

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"secateur/internal/access/auth"
	"secateur/internal/store/redisdb/redistest"
)

// A call waits at one replica for its client's input. The client comes back to another replica,
// which hands it over, for its own caller only. If its replica is lost, so is the call, and its
// client is told to start over.
func TestParkedCallIsCarriedToItsReplica(t *testing.T) {
	server := redistest.Start(t)
	config := fmt.Sprintf("response_timeout = 120\n[store]\nurl = %q\n[[servers]]\nid = \"everything\"\ncommand = %s\n", server.URL, toml(npmServer(t, "server-everything")))
	config += tokenRow("alice", "alice", "team") + tokenRow("bob", "bob", "team")
	holder, other := startDaemon(t, config), startDaemon(t, config)
	as := func(name string, d *daemon) *client {
		c := httpClient(t, d.seenBy(name), "/mcp", modern)
		c.capabilities = `{"elicitation":{}}`
		return c
	}
	const tool = `"name":"everything::trigger-elicitation-request","arguments":{}`
	park := func(c *client) (params string) {
		asked := readInputRequired(t, c.result("tools/call", "{"+tool+"}"))
		for key := range asked.InputRequests {
			params = fmt.Sprintf(`{%s,"inputResponses":{%q:{"action":"accept","content":{"name":"Ada"}}},"requestState":%q}`, tool, key, asked.RequestState)
		}
		return params
	}
	alice := as("alice", other)
	answer := park(as("alice", holder))
	for _, d := range []*daemon{holder, other} {
		if m := as("bob", d).call("tools/call", answer); m.Error == nil || m.Error.Code != -32602 {
			t.Errorf("another caller with the state: %.300s", m.raw)
		}
	}
	if m := alice.call("tools/call", answer); !strings.Contains(string(m.Result), "Ada") || !strings.Contains(string(m.Result), `"complete"`) {
		t.Errorf("the call that waits at another replica: %.400s", m.raw)
	}
	if m := alice.call("tools/call", answer); m.Error == nil || m.Error.Code != -32602 {
		t.Errorf("the same state again: %.300s", m.raw)
	}
	if got := holder.as(t, "alice", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Secateur-Replica", "1 2 3 4"); got.status != http.StatusForbidden {
		t.Errorf("who only says to be a replica: %d %.200s", got.status, got.body)
	}
	answer = park(as("alice", holder))
	_ = holder.cmd.Process.Kill()
	_ = holder.stop()
	if m := alice.call("tools/call", answer); m.Error == nil || m.Error.Code != -32602 || !strings.Contains(m.raw, "make the call again") {
		t.Errorf("the call is lost with its replica: %.300s", m.raw)
	}
	if m := alice.call("tools/call", park(alice)); !strings.Contains(string(m.Result), "Ada") {
		t.Errorf("the call made anew: %.300s", m.raw)
	}
}

// The same if replicas require client certificates: they show each other the listener's own, which
// admits handed-over calls and nothing else.
func TestParkedCallIsCarriedWhereCertificatesAreDemanded(t *testing.T) {
	server := redistest.Start(t)
	dir := t.TempDir()
	clients, servers := makeCertificate(t, dir, "clients", nil, ""), makeCertificate(t, dir, "servers", nil, "")
	own := makeCertificate(t, dir, "server", servers, "")
	agent := makeCertificate(t, dir, "agent", clients, "spiffe://corp/agents/one")
	path := func(name string) string { return filepath.ToSlash(filepath.Join(dir, name)) }
	config := fmt.Sprintf("response_timeout = 120\n[store]\nurl = %q\n[[servers]]\nid = \"everything\"\ncommand = %s\n", server.URL, toml(npmServer(t, "server-everything"))) +
		fmt.Sprintf("[tls]\ncert = %q\nkey = %q\nclient_ca = %q\nclient_auth = \"required\"\n[[auth.certificates]]\nsan = \"spiffe://corp/agents/*\"\n", path("server.pem"), path("server-key.pem"), path("clients.pem"))
	connect := func(d *daemon, shown *tls.Certificate, name string) *program {
		transport := &http.Transport{TLSClientConfig: &tls.Config{
			InsecureSkipVerify: true, ServerName: name,
			GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return shown, nil },
		}}
		t.Cleanup(transport.CloseIdleConnections)
		return &program{url: "https://" + d.url[strings.Index(d.url, "//")+2:], http: &http.Client{Transport: transport}}
	}
	holder, other := startDaemon(t, config), startDaemon(t, config)
	as := func(d *daemon) *client {
		c := httpClient(t, connect(d, agent, "localhost"), "/mcp", modern)
		c.capabilities = `{"elicitation":{}}`
		return c
	}
	const tool = `"name":"everything::trigger-elicitation-request","arguments":{}`
	asked := readInputRequired(t, as(holder).result("tools/call", "{"+tool+"}"))
	for key := range asked.InputRequests {
		answer := fmt.Sprintf(`{%s,"inputResponses":{%q:{"action":"accept","content":{"name":"Ada"}}},"requestState":%q}`, tool, key, asked.RequestState)
		if m := as(other).call("tools/call", answer); !strings.Contains(string(m.Result), "Ada") {
			t.Errorf("the call that waits at another replica: %.400s", m.raw)
		}
	}
	asReplica := connect(holder, own, auth.ReplicaName)
	for _, path := range []string{"/mcp", "/rpc"} {
		if got := asReplica.post(t, path, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); got.status != http.StatusForbidden {
			t.Errorf("%s over a connection of a replica, not handed over: %d %.200s", path, got.status, got.body)
		}
	}
}
