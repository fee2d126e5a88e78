package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"secateur/internal/app"
	"secateur/internal/config"
	"secateur/internal/mcp/demo"
)

// greeting is what serve says about itself: first where clients connect, then, once every server has come up or shown that
// it cannot, the rest.
type greeting struct {
	cfg  *config.Config
	addr string
	asks bool // for a token of the token file

	originalID func(text string) string // what the running store calls a text
}

// base is the address with its scheme.
func (g greeting) base() string {
	if g.cfg.TLS.Cert != "" {
		return "https://" + g.addr
	}
	return "http://" + g.addr
}

// first is what is said at once, whatever the servers do: version, address, where the configuration is from, and the doors.
func (g greeting) first() string {
	from := "configuration " + g.cfg.Path
	switch {
	case g.cfg.Path == "":
		from = "built-in default; 'secateur init' writes a configuration to change"
	case g.cfg.Path == filepath.Base(g.cfg.Path):
		from = "configuration ./" + g.cfg.Path + " of the working directory"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "secateur %s listens on %s (%s)\n", version, g.base(), from)
	for _, d := range g.doors() {
		fmt.Fprintf(&b, "  %-34s %s\n", d.what, d.where)
	}
	return b.String()
}

// starting is said while servers are still starting.
func starting(ids []string, since time.Duration) string {
	const most = 5
	who := strings.Join(ids, ", ")
	if len(ids) > most {
		who = fmt.Sprintf("%s and %d more", strings.Join(ids[:most], ", "), len(ids)-most)
	}
	if since < time.Second {
		return fmt.Sprintf("starting %s…\n", who)
	}
	return fmt.Sprintf("starting %s… %s so far\n", who, since)
}

// rest is a line for each server, and the next thing to type.
func (g greeting) rest(servers []app.ServerStart) string {
	var b strings.Builder
	width := 0
	for _, s := range servers {
		width = max(width, len(s.ID))
	}
	for _, s := range servers {
		fmt.Fprintf(&b, "  %-*s  %s\n", width, s.ID, outcome(s))
	}
	b.WriteString(g.next(servers))
	return b.String()
}

type doorLine struct{ what, where string }

func (g greeting) doors() []doorLine {
	base := g.base()
	doors := []doorLine{
		{"MCP, all servers as one", base + "/mcp"},
		{"MCP, one server as it is", base + "/mcp/{server}"},
		{"JSON-RPC, long answers cut", base + "/api/mcp-gateway/{server}/rpc"},
	}
	if len(g.cfg.Providers) > 0 {
		doors = append(doors, doorLine{"models, big results cut", base + "/v1"})
	}
	return append(doors, doorLine{"dashboard, in your browser", base + "/ui/"})
}

// outcome is how a server came up, on one line.
func outcome(s app.ServerStart) string {
	if s.State == "ready" || s.State == "degraded" {
		if !s.Listed {
			return s.State + ", its tools not listed yet"
		}
		return s.State + ", " + plural(s.Tools, "tool")
	}
	if s.Error == "" {
		return s.State
	}
	const most = 200
	why := []rune(strings.Join(strings.Fields(strings.TrimPrefix(s.Error, fmt.Sprintf("server %q: ", s.ID))), " "))
	if len(why) > most {
		why = append(why[:most], '…')
	}
	if strings.HasPrefix(string(why), s.State) {
		return string(why)
	}
	return s.State + ": " + string(why)
}

// next is what to type next.
func (g greeting) next(servers []app.ServerStart) string {
	auth := ""
	if !g.cfg.AuthToken.IsZero() {
		auth = ` -H "Authorization: Bearer $AUTH_TOKEN"`
	} else if g.asks || g.cfg.Auth.Asks() {
		auth = ` -H "Authorization: Bearer $SECATEUR_TOKEN"`
		return "Every door asks for a token: 'secateur token new NAME' prints one. Put it into SECATEUR_TOKEN for what follows.\n" + g.try(servers, auth)
	}
	return g.try(servers, auth)
}

// try is a first request with the header that it needs.
func (g greeting) try(servers []app.ServerStart, auth string) string {
	for _, s := range g.cfg.Servers {
		if s.Builtin == "demo" && !s.Disabled {
			return g.tryDemo(s.ID, auth)
		}
	}
	for _, s := range servers {
		if s.Tools > 0 && s.ID != config.PrunerID {
			return fmt.Sprintf("Connect a client to %s/mcp, or look at what %s offers:\n\n"+
				"  curl -s%s %s/api/mcp-gateway/%s/rpc -d '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}'\n\n", g.base(), s.ID, auth, g.base(), s.ID)
		}
	}
	return fmt.Sprintf("Connect a client to %s/mcp, or look at how the servers are doing:\n\n  curl -s%s %s/readyz\n\n", g.base(), auth, g.base())
}

// tryDemo shows a cut and its recovery.
func (g greeting) tryDemo(server, auth string) string {
	return fmt.Sprintf(`
A build log of 2 500 lines, cut on its way (the id of what was cut is in the header X-Secateur-Originals):

  curl -si%[1]s %[2]s/api/mcp-gateway/%[3]s/rpc -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_log","arguments":{}}}'

The lines around the failure in it, restored:

  curl -s%[1]s %[2]s/rpc -d '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"recover_text","arguments":{"prune_id":"%[4]s","ranges":[{"start_line":1632,"end_line":1638}],"include_line_numbers":true}}}'

`, auth, g.base(), server, g.originalID(demo.Log()))
}
