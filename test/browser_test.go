package test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"secateur/internal/config"
)

// page calls the doors like a web application and posts the results to its own origin.
const page = `<!doctype html><script>
const doors = "DOORS";
const send = (path, message, headers = {}) => fetch(doors + path, {
  method: "POST", headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers }, body: JSON.stringify(message),
});
async function look() {
  const seen = [];
  const init = await send("/mcp", { jsonrpc: "2.0", id: 1, method: "initialize", params: {
    protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "page", version: "1" } } });
  const session = init.headers.get("mcp-session-id");
  seen.push("session " + Boolean(session), (await init.text()).includes('"name":"secateur"'));
  const tools = await send("/mcp", { jsonrpc: "2.0", id: 2, method: "tools/list" }, { "mcp-session-id": session, "mcp-protocol-version": "2025-06-18" });
  seen.push((await tools.text()).includes("demo::read_log"));
  const log = await send("/api/mcp-gateway/demo/rpc", { jsonrpc: "2.0", id: 3, method: "tools/call", params: { name: "read_log", arguments: {} } });
  seen.push("originals " + /^prn_/.test(log.headers.get("x-secateur-originals")));
  const end = await fetch(doors + "/mcp", { method: "DELETE", headers: { "mcp-session-id": session } });
  seen.push("ended " + end.status);
  seen.push((await (await fetch(doors + "/readyz")).json()).status);
  return seen.join(", ");
}
look().catch((e) => String(e)).then((seen) => fetch("/seen", { method: "POST", body: seen }));
</script>FRAME`

// A page of an allowed origin uses the doors from a real browser; one of another origin sees
// nothing.
func TestBrowser(t *testing.T) {
	chromium := need(t, "chromium")
	mine, yours := startSite(t), startSite(t)
	cfg, mistakes := config.Load("test.toml", []byte(`
listen = "127.0.0.1:0"
allowed_origins = ["`+mine.URL+`"]
store.url = "memory:"
[[servers]]
id = "demo"
builtin = "demo"
`), config.Options{})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	at := startConfig(t, cfg).url
	yours.page(strings.NewReplacer("DOORS", at, "FRAME", "").Replace(page))
	mine.page(strings.NewReplacer("DOORS", at, "FRAME", `<iframe src="`+yours.URL+`"></iframe>`).Replace(page))

	profile, err := os.MkdirTemp("", "secateur-browser-") //nolint:usetesting // the rest of a killed browser may still write to it for a moment
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
		"--user-data-dir="+profile, "--remote-debugging-port=0", mine.URL)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait() // it was killed
		_ = os.RemoveAll(profile)
	})
	for name, c := range map[string]struct {
		site *site
		want string
	}{
		"allowed": {mine, "session true, true, true, originals true, ended 204, ready"},
		"another": {yours, "TypeError: Failed to fetch"},
	} {
		select {
		case got := <-c.site.seen:
			if got != c.want {
				t.Errorf("a page of the %s origin saw %q, want %q", name, got, c.want)
			}
		case <-time.After(3 * time.Minute):
			t.Errorf("the page of the %s origin says nothing", name)
		}
	}
}

// site is where a page comes from.
type site struct {
	*httptest.Server
	html chan string
	seen chan string
}

func startSite(t *testing.T) *site {
	t.Helper()
	s := &site{html: make(chan string, 1), seen: make(chan string, 1)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			html := <-s.html
			s.html <- html
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, html)
		case "/seen":
			body, _ := io.ReadAll(r.Body)
			s.seen <- string(body)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *site) page(html string) { s.html <- html }
