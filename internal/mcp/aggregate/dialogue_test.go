package aggregate_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"secateur/internal/access"
	"secateur/internal/access/admission"
	"secateur/internal/cut/cutting"
	"secateur/internal/cut/mask"
	"secateur/internal/mcp/aggregate"
	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/downstream"
	"secateur/internal/mcp/pool"
	"secateur/internal/mcp/upstream"
	"secateur/internal/store/originals"
)

// Every file of testdata is a dialogue between a client on a pipe, us, and servers that are child processes. The file
// "servers" says what the servers are, a JSON object a line; "door" names the one server whose own door it is, all of
// them without such a file; "talk" is what is said, a message a line:
//
//	client: what the client sends        client hears: what it then gets
//	NAME: what the server sends          NAME hears: what it gets
//
// A client may also post over HTTP, with headers, and is told the status:
//
//	client with Mcp-Method=tools/list: what it posts       client gets: 200
//
// "redacted fields" are those of a rule that redacts.
//
// What is heard is compared as JSON, member by member. "$x" stands for any value, the same one wherever it comes again;
// the member "...": true lets an object have more members than are named.
func TestDialogues(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no dialogues: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var s stage
			s.vars = map[string]any{}
			for _, f := range archive.Files {
				switch f.Name {
				case "door":
					s.only = strings.TrimSpace(string(f.Data))
				case "redacted fields":
					s.fields = strings.Fields(string(f.Data))
				case "servers":
					s.cast(t, string(f.Data))
				case "talk":
					s.play(t, string(f.Data))
				}
			}
		})
	}
}

// stage is where a dialogue takes place.
type stage struct {
	puppets map[string]*puppet
	client  *pipeClient
	only    string   // the server whose door it is; "": all of them
	fields  []string // that a rule redacts
	vars    map[string]any
}

func (s *stage) cast(t *testing.T, lines string) {
	t.Helper()
	s.puppets = map[string]*puppet{}
	var all []*puppet
	for line := range strings.Lines(lines) {
		var n nature
		if err := json.Unmarshal([]byte(line), &n); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		p := newPuppet(t, n)
		s.puppets[n.ID] = p
		all = append(all, p)
	}
	s.client = newPipeClient(t, doorOptions{puppets: all, only: s.only, control: redacting(t, s.fields)})
}

func (s *stage) play(t *testing.T, talk string) {
	t.Helper()
	number := 0
	for line := range strings.Lines(talk) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		who, text, _ := strings.Cut(line, ": ")
		if headers, ok := strings.CutPrefix(who, "client with "); ok {
			s.client.post(t, headers, s.filled(t, text))
			continue
		}
		who, hears := strings.CutSuffix(who, " hears")
		who, gets := strings.CutSuffix(who, " gets")
		p := s.puppets[who]
		if p == nil && who != "client" {
			t.Fatalf("line %d: there is no %s", number, who)
		}
		if !hears && !gets {
			text = s.filled(t, text)
			if p == nil {
				s.client.send(t, text)
			} else {
				p.say(t, text)
			}
			continue
		}
		heard := s.client.heard
		if gets {
			heard = s.client.got
		}
		if p != nil {
			heard = p.heard
		}
		select {
		case got := <-heard:
			if problem := s.match(text, got); problem != "" {
				t.Fatalf("line %d: %s hears\n%s\nwant\n%s\n%s", number, who, got, text, problem)
			}
		case <-time.After(patience):
			t.Fatalf("line %d: %s hears nothing, want %s", number, who, text)
		}
	}
}

// filled puts in what was heard before.
func (s *stage) filled(t *testing.T, text string) string {
	t.Helper()
	for name, value := range s.vars {
		b, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		text = strings.ReplaceAll(text, `"`+name+`"`, string(b))
	}
	return text
}

func (s *stage) match(want, got string) string {
	var w, g any
	for _, side := range []struct {
		text string
		into *any
	}{{want, &w}, {got, &g}} {
		d := json.NewDecoder(strings.NewReader(side.text))
		d.UseNumber()
		if err := d.Decode(side.into); err != nil {
			return fmt.Sprintf("%v in %s", err, side.text)
		}
	}
	return s.compare("", w, g)
}

func (s *stage) compare(at string, want, got any) string {
	if name, ok := want.(string); ok && strings.HasPrefix(name, "$") {
		known, set := s.vars[name]
		if !set {
			s.vars[name] = got
			return ""
		}
		want = known
	}
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s: no object", at)
		}
		for name, value := range w {
			if name == "..." {
				continue
			}
			have, there := g[name]
			if !there {
				return fmt.Sprintf("%s/%s: missing", at, name)
			}
			if problem := s.compare(at+"/"+name, value, have); problem != "" {
				return problem
			}
		}
		if _, more := w["..."]; !more {
			for name := range g {
				if _, wanted := w[name]; !wanted {
					return fmt.Sprintf("%s/%s: not wanted", at, name)
				}
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return fmt.Sprintf("%s: not so many elements", at)
		}
		for i := range w {
			if problem := s.compare(fmt.Sprintf("%s/%d", at, i), w[i], g[i]); problem != "" {
				return problem
			}
		}
		return ""
	}
	if want != got {
		return fmt.Sprintf("%s: %v is not %v", at, got, want)
	}
	return ""
}

// doorOptions are what a test wants of the door.
type doorOptions struct {
	puppets    []*puppet
	servers    []upstream.Settings // further ones
	only       string              // the server whose door it is; "": all of them
	token      string              // that the door asks for
	principal  *access.Principal   // whom the pipe belongs to; nil: anonymous
	masker     *mask.Masker
	target     int  // characters that long texts are pruned towards
	repeats    bool // what structured content says again is cut too
	pageSize   int
	answerTime time.Duration
	parkTime   time.Duration
	greeting   time.Duration // how long the door of one server waits for it; 0: long enough
	grace      time.Duration // after the client has hung up
	listWait   time.Duration // how long lists wait for a server's start; 0: long enough
	control    *admission.Control
	tools      catalog.ToolSettings // how clients learn of tools
	asked      aggregate.Asked
	noRecovery bool               // no server restores cut texts
	cut        func(cutting.Made) // told of cuts
}

// redacting is the access control that has one rule, about fields; nil where there are none.
func redacting(t *testing.T, fields []string) *admission.Control {
	t.Helper()
	if len(fields) == 0 {
		return nil
	}
	rules, err := access.NewRules([]access.Rule{{Action: access.ActionRedact, Fields: fields}}, false)
	if err != nil {
		t.Fatal(err)
	}
	control, err := admission.New(admission.Options{Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	return control
}

// newDoor builds the door in front of puppets and runs its servers.
func newDoor(t *testing.T, o doorOptions) *aggregate.Server {
	t.Helper()
	var settings []upstream.Settings
	for _, p := range o.puppets {
		settings = append(settings, p.settings())
	}
	settings = append(settings, o.servers...)
	f, err := pool.New(pool.Options{
		Servers: settings, FirstListWait: cmp.Or(o.listWait, patience), Linger: 100 * time.Millisecond,
		New: func(s upstream.Settings, c pool.Connection) (*upstream.Upstream, error) {
			if c.Protocol != "" {
				s.Protocol = c.Protocol
			}
			return upstream.New(upstream.Options{
				Settings: s, Capabilities: c.Capabilities, Incoming: c.Incoming, Announced: c.Announced, Opened: c.Opened, ResponseTimeout: patience,
			})
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	recovery := "pruner"
	if o.masker == nil || o.noRecovery {
		recovery = ""
	}
	door, err := aggregate.New(aggregate.Options{
		Recovery: recovery, Cut: o.cut,
		Pool: f, ToolProfiles: catalog.NewToolProfiles(o.tools), Admission: o.control, Masker: o.masker, TargetChars: o.target, MaskRepeats: o.repeats, Originals: &originals.Memory{MaxBytes: 1 << 24, TTL: time.Hour},
		Authenticate: func(_ context.Context, token, _ string) (*access.Principal, access.Verdict) {
			if o.token == "" || token != o.token {
				return nil, access.Verdict{Kind: access.Unauthorized, Cause: access.CauseInvalid}
			}
			return access.TokenHolder(), access.Verdict{}
		},
		Version: "1.0", PageSize: o.pageSize, AnswerTime: o.answerTime, ParkTime: o.parkTime, GreetingTime: cmp.Or(o.greeting, patience),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = f.Run(ctx)
	}()
	t.Cleanup(func() {
		door.Close()
		door.Wait()
		cancel()
		<-ended
	})
	return door
}

// pipeClient is a client at the other end of a pipe.
type pipeClient struct {
	in    io.WriteCloser
	heard chan string
	web   http.Handler
	got   chan string // statuses of what was posted
	posts sync.WaitGroup
}

func newPipeClient(t *testing.T, o doorOptions) *pipeClient {
	t.Helper()
	door := newDoor(t, o)
	principal := o.principal
	if principal == nil && o.token == "" {
		principal = access.Anonymous()
	}
	in, toDoor := io.Pipe()
	fromDoor, out := io.Pipe()
	c := &pipeClient{in: toDoor, heard: make(chan string, 1000), got: make(chan string, 100), web: webOf(door, principal)}
	server := door.AggregateAsking(o.asked)
	if o.only != "" {
		server = door.Only(o.only)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := downstream.ServeStdio(context.Background(), in, out, downstream.StdioOptions{
			Server: server, Principal: principal, MaxMessageBytes: 1 << 24, Grace: o.grace,
		}); err != nil {
			t.Errorf("the pipe: %v", err)
		}
		_ = out.Close()
	}()
	read := make(chan struct{})
	go func() {
		defer close(read)
		lines := bufio.NewReader(fromDoor)
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			c.heard <- strings.TrimSpace(line)
		}
	}()
	t.Cleanup(func() {
		c.posts.Wait()
		_ = toDoor.Close()
		<-ended
		<-read
	})
	return c
}

// webOf serves a door's two routes over HTTP.
func webOf(door *aggregate.Server, principal *access.Principal) http.Handler {
	web := downstream.NewHTTP(downstream.HTTPOptions{
		Server: func(name, _ string) (downstream.Server, error) {
			if name != "" {
				return door.Only(name), nil
			}
			return door.Aggregate(), nil
		},
		Has:             func(p *access.Principal, name string) bool { return name == "" || door.Has(p, name) },
		Known:           door.Known,
		Check:           func(*http.Request) (*access.Principal, access.Verdict) { return principal, access.Verdict{} },
		MaxMessageBytes: 1 << 24,
	})
	mux := http.NewServeMux()
	mux.Handle("/mcp", web)
	mux.Handle("/mcp/{server}", web)
	return mux
}

// post posts a message to /mcp, or to the header Path, with headers: Name=value, by spaces. The answer is heard, its
// status is got.
func (c *pipeClient) post(t *testing.T, headers, body string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", strings.NewReader(body))
	r.Header.Set("Accept", "application/json")
	r.Header.Set("Content-Type", "application/json")
	for header := range strings.FieldsSeq(headers) {
		name, value, _ := strings.Cut(header, "=")
		if name == "Path" {
			r.URL.Path = value
			continue
		}
		r.Header.Add(name, value)
	}
	c.posts.Go(func() {
		w := httptest.NewRecorder()
		c.web.ServeHTTP(w, r)
		c.got <- strconv.Itoa(w.Code)
		if w.Body.Len() > 0 {
			c.heard <- strings.TrimSpace(w.Body.String())
		}
	})
}

func (c *pipeClient) send(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		t.Fatal(err)
	}
}
