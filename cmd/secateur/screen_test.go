package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode"
)

// evil has one of everything that a terminal acts on or hides: OSC 52, C0, DEL, C1, bidirectional controls, zero width, tags, selectors.
const evil = "a\x1b]52;c;cm0gLXJm\x07b\x08\x7f\r\u0085\u009b2Jc\u061c\u200b\u200d\u200e\u202e\u2028\u2066\ufeff\ufe0f\u00ad\u3164\U000e0041\U000e0100d"

func unseen(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (!unicode.IsPrint(r) || unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)) {
			return r
		}
		return -1
	}, text)
}

func TestTerminalsGetNoControlCharacters(t *testing.T) {
	for step := 1; step <= len(evil); step++ { // however the text is cut into pieces
		var out bytes.Buffer
		s := &screen{to: &out}
		for i := 0; i < len(evil); i += step {
			piece := evil[i:min(i+step, len(evil))]
			if n, err := s.Write([]byte(piece)); n != len(piece) || err != nil {
				t.Fatalf("Write = %d, %v", n, err)
			}
		}
		s.Flush()
		if got := out.String(); got != visible(evil) || unseen(got) != "" {
			t.Fatalf("in pieces of %d bytes: %q", step, got)
		}
	}
	for in, want := range map[string]string{
		"tab\tand\nline\r\nends": "tab\tand\nline\r\nends", "ein Füchslein 🦊 漢字": "ein Füchslein 🦊 漢字",
		"\x1b[2J": `\u001b[2J`, "\u009b": `\u009b`, "\U000e0041": `\udb40\udc41`, "\xff\x9b": "\ufffd\ufffd", "half\xe2\x80": "half\ufffd\ufffd",
	} {
		var out bytes.Buffer
		s := &screen{to: &out}
		fmt.Fprint(s, in)
		s.Flush()
		if out.String() != want {
			t.Errorf("%q is shown as %q, want %q", in, out.String(), want)
		}
	}
}

func TestJSONKeepsItsMeaningOnTheScreen(t *testing.T) {
	for _, text := range []string{evil, `\` + evil + `"`} {
		whole, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var back string
		if err := json.Unmarshal([]byte(visible(string(whole))), &back); err != nil || back != text {
			t.Errorf("%q comes back as %q, %v", text, back, err)
		}
	}
}

// hostile answers as a control plane all of whose texts are evil.
func hostile(t *testing.T) string {
	t.Helper()
	e, err := json.Marshal(evil)
	if err != nil {
		t.Fatal(err)
	}
	server := fmt.Sprintf(`{"id":%[1]s,"state":%[1]s,"transport":%[1]s,"protocol":%[1]s,"era":%[1]s,"last_error":%[1]s,"problems":[%[1]s]}`, e)
	tool := fmt.Sprintf(`{"name":%[1]s,"server":%[1]s,"pin":%[1]s}`, e)
	answers := map[string]string{
		"/whoami":            `{}`,
		"/status":            fmt.Sprintf(`{"version":%[1]s,"mode":%[1]s,"listen":%[1]s,"config":{"path":%[1]s,"restart_needed":[%[1]s]},"doors":[%[1]s],"servers":{%[1]s:1},"store":{"url":%[1]s,"state":%[1]s},"replicas":[{"name":%[1]s}]}`, e),
		"/logins":            fmt.Sprintf(`{"items":[{"server":%[1]s,"subject":%[1]s}],"next":null}`, e),
		"/servers":           `{"items":[` + server + `],"next":null}`,
		"/servers/x":         server,
		"/tools":             `{"items":[` + tool + `],"next":null}`,
		"/call":              fmt.Sprintf(`{"result":{"content":[{"type":"text","text":%[1]s},{"type":%[1]s,"uri":%[1]s},{"type":%[1]s,"mimeType":%[1]s}]}}`, e),
		"/events":            "",
		"/reload":            "",
		"/servers/x/restart": server,
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := strings.TrimPrefix(r.URL.Path, "/api/v1")
		body, known := answers[path]
		w.Header().Set("Content-Type", "application/json")
		switch {
		case path == "/events":
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "id: 1\nevent: log\ndata: {\"at\":\"2026-01-01T00:00:00Z\",\"server\":%[1]s,\"level\":%[1]s,\"text\":%[1]s}\n\n", e)
		case !known || body == "":
			w.WriteHeader(http.StatusConflict)
			fmt.Fprintf(w, `{"type":"about:blank","status":409,"code":"x","title":%[1]s,"detail":%[1]s,"hint":%[1]s}`, e)
		default:
			fmt.Fprint(w, body)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// A running program, its servers and their tools may say anything: no command lets a terminal act on it.
func TestNoCommandPrintsControlCharacters(t *testing.T) {
	url := hostile(t)
	for _, args := range [][]string{
		{"status"},
		{"servers"},
		{"servers", "x"},
		{"tools"},
		{"call", "x::y"},
		{"logs"},
		{"restart", "x"},
		{"reload"},
		{"savings"},
		{"check", "--config", evil},
		{"recover", evil},
		{evil},
		{"status", "--" + evil},
		{"import", "--from", evil},
		{"connect", evil},
		{"logout", evil},
		{"login", evil},
	} {
		for _, more := range [][]string{nil, {"--json"}} {
			var out, errOut bytes.Buffer
			w := world{in: strings.NewReader(""), out: &screen{to: &out}, err: &screen{to: &errOut}, environ: []string{"SECATEUR_URL=" + url}, home: t.TempDir(), stateDir: t.TempDir()}
			run(context.Background(), append(args, more...), w)
			if got := out.String() + errOut.String(); got == "" || unseen(got) != "" {
				t.Errorf("secateur %q prints %q", append(args, more...), got)
			}
			if got := out.Bytes(); more != nil && args[0] != "logs" && len(got) > 0 && !json.Valid(got) {
				t.Errorf("secateur %q prints no JSON: %q", append(args, more...), got)
			}
		}
	}
}

// The colours are ours alone.
func TestColoursAreOurs(t *testing.T) {
	var out bytes.Buffer
	w := world{out: &screen{to: &out}, colour: true}
	w.printf("%s is %s\n", green+"x"+plain, w.coloured("ready"))
	table{head: []string{"A", "B"}, rows: [][]string{{red + "x", "down"}}}.print(w)
	got := strings.NewReplacer(green+"ready"+plain, "", red+"down"+plain, "").Replace(out.String())
	if unseen(got) != "" || len(got) == out.Len() {
		t.Errorf("printed %q", out.String())
	}
}

// Text for a file is exact; for a terminal or another program it is escaped.
func TestCallWritesAFileAsItIs(t *testing.T) {
	url := hostile(t)
	for kind, want := range map[outKind]string{toFile: evil + "\n", toTerminal: visible(evil) + "\n", toPipe: visible(evil) + "\n"} {
		var out bytes.Buffer
		w := world{in: strings.NewReader(""), out: &screen{to: &out}, err: t.Output(), environ: []string{"SECATEUR_URL=" + url}, home: t.TempDir(), kind: kind}
		if code := run(context.Background(), []string{"call", "x::y"}, w); code != 0 || !strings.HasPrefix(out.String(), want) {
			t.Errorf("to %d: exit status %d, %q", kind, code, out.String())
		}
	}
}
