package pruner_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"secateur/internal/prune/pruner"
	"secateur/internal/store/originals"
)

// runPrune runs the command and returns its output.
func runPrune(t *testing.T, s *pruner.Server, cmd pruner.PruneCommand, inputs ...string) (stdout, stderr string, err error) {
	t.Helper()
	for i, text := range inputs {
		cmd.Inputs = append(cmd.Inputs, pruner.Input{Name: fmt.Sprintf("file%d.txt", i), From: strings.NewReader(text)})
	}
	if cmd.Timeout == 0 {
		cmd.Timeout = time.Minute
	}
	var out, diag bytes.Buffer
	cmd.Out, cmd.Err = &out, &diag
	err = s.RunPrune(t.Context(), cmd)
	return out.String(), diag.String(), err
}

func TestPruneCommand(t *testing.T) {
	s := newServer(t, nil)
	text := numbered(100)
	direct := pruneText(t, s, asked{text: text, goal: "line 7", ratio: 0.5, markers: true})
	out, diag, err := runPrune(t, s, pruner.PruneCommand{Goal: "line 7", Ratio: 0.5, Markers: true}, text)
	if err != nil || out != direct.PrunedText {
		t.Errorf("standard output %q, %v, want what the tool answers", out, err)
	}
	want := regexp.MustCompile(`^file0\.txt: docs, 100 lines, 6\d kept \(3\d % cut\); about \d+ tokens, now \d+; prn_[0-9A-Z]{26}\nnote: .*file:DIR.*\n$`)
	if !want.MatchString(diag) {
		t.Errorf("standard error %q", diag)
	}

	_, diag, _ = runPrune(t, s, pruner.PruneCommand{Goal: "step 7", Ratio: 0.5, Markers: true}, strings.Repeat("function step(a,b){return a+b};", 300))
	if !strings.HasPrefix(diag, "file0.txt: code (one line), 9300 characters, 5627 kept (39 % cut); about 2941 tokens") {
		t.Errorf("of one line %q", diag)
	}

	out, _, err = runPrune(t, s, pruner.PruneCommand{Goal: "line 7", Ratio: 0.5, Markers: true, JSON: true}, text)
	var p pruned
	if json.Unmarshal([]byte(out), &p) != nil || err != nil || strings.Count(out, "\n") != 1 || p.PrunedText != direct.PrunedText {
		t.Errorf("--json: %q, %v", out, err)
	}

	out, _, _ = runPrune(t, s, pruner.PruneCommand{Ratio: 0.5, Numbers: true}, "a\nb")
	if !strings.Contains(out, "│ ") || strings.Contains(out, "⟦") {
		t.Errorf("numbers without markers: %q", out)
	}
	var nameless bytes.Buffer
	if s.RunPrune(t.Context(), pruner.PruneCommand{Inputs: []pruner.Input{{From: strings.NewReader("a")}}, Out: io.Discard, Err: &nameless}); !strings.HasPrefix(nameless.String(), "standard input: ") {
		t.Errorf("an input without a name: %q", nameless.String())
	}
	if _, _, err := runPrune(t, s, pruner.PruneCommand{Type: "prose"}, "a"); err == nil {
		t.Error("an unknown type is no error")
	}
}

func TestPruneCommandColours(t *testing.T) {
	s := newServer(t, nil)
	cmd := pruner.PruneCommand{Goal: "line 7", Ratio: 0.5, Markers: true}
	plain, _, _ := runPrune(t, s, cmd, numbered(100))
	cmd.Colour = true
	coloured, _, _ := runPrune(t, s, cmd, numbered(100))
	if !strings.Contains(coloured, "\x1b[2m⟦PRUNÉ: ") || !strings.Contains(coloured, "⟧\x1b[0m") {
		t.Errorf("no colours: %q", coloured)
	}
	if got := regexp.MustCompile("\x1b\\[[02]m").ReplaceAllString(coloured, ""); got != plain {
		t.Errorf("without its colours the text is %q, want %q", got, plain)
	}
}

func TestPruneCommandSeveralInputs(t *testing.T) {
	s := newServer(t, nil)
	out, diag, err := runPrune(t, s, pruner.PruneCommand{}, "a\n", "b", "")
	if want := "==> file0.txt <==\na\n\n==> file1.txt <==\nb\n\n==> file2.txt <==\n"; out != want || err != nil {
		t.Errorf("got %q, %v, want %q", out, err, want)
	}
	if strings.Count(diag, "\n") != 3 {
		t.Errorf("standard error %q", diag)
	}
	out, _, _ = runPrune(t, s, pruner.PruneCommand{JSON: true}, "a\n", "b")
	for i, line := range strings.Split(strings.TrimSpace(out), "\n") {
		var p struct {
			File       string `json:"file"`
			PrunedText string `json:"pruned_text"`
		}
		if err := json.Unmarshal([]byte(line), &p); err != nil || p.File != fmt.Sprintf("file%d.txt", i) || p.PrunedText == "" {
			t.Errorf("line %d: %s, %v", i, line, err)
		}
	}
}

func TestPruneCommandPassesBytesAsTheyAre(t *testing.T) {
	text := "\xff\xfd\x00 not text\r\n" + strings.Repeat("\x80\n", 20)
	out, _, err := runPrune(t, newServer(t, nil), pruner.PruneCommand{}, text)
	if out != text || err != nil {
		t.Errorf("%q, %v", out, err)
	}
}

func TestPruneCommandExplainsItself(t *testing.T) {
	s := newServer(t, func(o *pruner.Options) { o.Originals = full{&originals.Memory{}} })
	out, diag, err := runPrune(t, s, pruner.PruneCommand{Ratio: 0.5}, numbered(20))
	if out != numbered(20) || err != nil || !strings.Contains(diag, "file0.txt: nothing cut: the store would not keep the original, see [store] max_bytes (recovery_unavailable)\n") {
		t.Errorf("%q, %v", diag, err)
	}
}

type full struct{ originals.Store }

func (full) Put(context.Context, string, string) (string, error) { return "", originals.ErrFull }

func TestPruneCommandThatCannotReadOrWrite(t *testing.T) {
	s := newServer(t, nil)
	err := s.RunPrune(t.Context(), pruner.PruneCommand{Inputs: []pruner.Input{{Name: "x", From: errReader{}}}, Out: io.Discard, Err: io.Discard})
	if err == nil || err.Error() != "read x: unexpected EOF" {
		t.Errorf("reading: %v", err)
	}
	err = s.RunPrune(t.Context(), pruner.PruneCommand{Inputs: []pruner.Input{{Name: "x", From: strings.NewReader("a")}}, Out: failingWriter{}, Err: io.Discard})
	if !errors.Is(err, errGone) {
		t.Errorf("writing: %v", err)
	}
}

func TestRecoverCommand(t *testing.T) {
	store := &originals.Memory{}
	text := "a\nb\xff\r\nc"
	id, _ := store.Put(t.Context(), "me", text)
	for _, c := range []struct {
		name    string
		ranges  []string
		numbers bool
		want    string
	}{
		{"the whole, byte for byte", nil, false, text},
		{"one line", []string{"2"}, false, "b\xff\r\n"},
		{"a range", []string{"2-3"}, false, "b\xff\r\nc"},
		{"from a line on", []string{"3-"}, false, "c"},
		{"up to a line", []string{"-1"}, false, "a\n"},
		{"several", []string{"3", "1-1"}, false, "c\na\n"},
		{"numbers", []string{"1-2"}, true, "1│ a\n2│ b\xff\r\n"},
		{"an end far beyond", []string{"1-99999999999"}, false, text},
	} {
		var out bytes.Buffer
		err := pruner.RunRecover(t.Context(), pruner.RecoverCommand{
			ID: id, Ranges: c.ranges, Numbers: c.numbers, Out: &out, Sources: []pruner.Fetch{pruner.FromStore(store, "me")},
		})
		if err != nil || out.String() != c.want {
			t.Errorf("%s: %q, %v, want %q", c.name, out.String(), err, c.want)
		}
	}
	for _, bad := range []string{"0", "x", "-", "", "3-x", "5-4", "4", "4-9", "1-0", "-0", "--3", "1-2-3", "99999999999999999999"} {
		err := pruner.RunRecover(t.Context(), pruner.RecoverCommand{
			ID: id, Ranges: []string{bad}, Out: io.Discard, Sources: []pruner.Fetch{pruner.FromStore(store, "me")},
		})
		if err == nil {
			t.Errorf("range %q is no error", bad)
		}
	}
}

func TestRecoverCommandAsJSON(t *testing.T) {
	store := &originals.Memory{}
	id, _ := store.Put(t.Context(), "", "a\nb")
	var out bytes.Buffer
	err := pruner.RunRecover(t.Context(), pruner.RecoverCommand{
		ID: id, Ranges: []string{"2-9"}, JSON: true, Out: &out, Sources: []pruner.Fetch{pruner.FromStore(store, "")},
	})
	want := `{"raw_text":"b","metadata":{"prune_id":"` + id + `","ranges":[{"start_line":2,"end_line":2}],"line_numbering":"original"}}` + "\n"
	if err != nil || out.String() != want {
		t.Errorf("%q, %v, want %q", out.String(), err, want)
	}
}

func TestRecoverCommandAsksInTurn(t *testing.T) {
	s := newServer(t, nil)
	id := keep(t, s, "a\n\\ud800 é\n")
	empty := keep(t, s, "")
	daemon := pruner.FromDaemon(http.DefaultClient, serveHTTP(t, s)+"/rpc", http.Header{"Authorization": {"Bearer x"}})
	gone := pruner.FromDaemon(http.DefaultClient, "http://127.0.0.1:1/rpc", nil)
	none := pruner.FromStore(&originals.Memory{}, "")
	down := pruner.FromStore(broken{err: originals.ErrUnavailable}, "")
	odd := httptest.NewServer(http.NotFoundHandler())
	defer odd.Close()
	other := pruner.FromDaemon(http.DefaultClient, odd.URL, nil)
	for _, c := range []struct {
		name    string
		id      string
		sources []pruner.Fetch
		want    string
		err     error
	}{
		{"the daemon has it", id, []pruner.Fetch{daemon}, "a\n\\ud800 é\n", nil},
		{"the empty text", empty, []pruner.Fetch{daemon}, "", nil},
		{"the second has it", id, []pruner.Fetch{none, daemon}, "a\n\\ud800 é\n", nil},
		{"no daemon, but another has it", id, []pruner.Fetch{gone, daemon}, "a\n\\ud800 é\n", nil},
		{"nobody has it", "prn_x", []pruner.Fetch{daemon, none}, "", originals.ErrNotFound},
		{"no daemon, and the store has it not", "prn_x", []pruner.Fetch{gone, none}, "", originals.ErrNotFound},
		{"no daemon", id, []pruner.Fetch{gone}, "", pruner.ErrUnreachable},
		{"nowhere to look", id, nil, "", pruner.ErrUnreachable},
		{"a store that is down", id, []pruner.Fetch{down}, "", originals.ErrUnavailable},
	} {
		var out bytes.Buffer
		err := pruner.RunRecover(t.Context(), pruner.RecoverCommand{ID: c.id, Sources: c.sources, Out: &out})
		if !errors.Is(err, c.err) || out.String() != c.want {
			t.Errorf("%s: %q, %v, want %q, %v", c.name, out.String(), err, c.want, c.err)
		}
	}
	if err := pruner.RunRecover(t.Context(), pruner.RecoverCommand{ID: id, Sources: []pruner.Fetch{other}, Out: io.Discard}); err == nil {
		t.Error("another program's answer is no error")
	}
}

func TestPruneCommandReadsWhatPipesCarry(t *testing.T) {
	s := newServer(t, nil)
	text := strings.Repeat("a line about nothing in particular, told at length\n", 40) + "the needle\n"
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	wide := func(big bool) string {
		var b []byte
		for _, u := range utf16.Encode([]rune(text)) {
			if big {
				b = append(b, byte(u>>8), byte(u))
			} else {
				b = append(b, byte(u), byte(u>>8))
			}
		}
		return string(b)
	}
	want, _, _ := runPrune(t, s, pruner.PruneCommand{Goal: "needle", Ratio: .8, Markers: true}, text)
	for name, in := range map[string]string{
		"gzip": packed.String(), "UTF-16": "\xff\xfe" + wide(false), "UTF-16, the other way": "\xfe\xff" + wide(true), "UTF-16 without a mark": wide(false),
	} {
		out, diag, err := runPrune(t, s, pruner.PruneCommand{Goal: "needle", Ratio: .8, Markers: true}, in)
		if out != want || err != nil || !strings.Contains(diag, "gzip") && !strings.Contains(diag, "UTF-16") {
			t.Errorf("%s: %.80q, %q, %v", name, out, diag, err)
		}
	}
	for name, in := range map[string]string{"a picture": "\x89PNG\r\n\x1a\n" + strings.Repeat("\x00\x01\x02", 500), "half a gzip": packed.String()[:30]} {
		if out, _, err := runPrune(t, s, pruner.PruneCommand{Ratio: .8}, in); out != "" || err == nil {
			t.Errorf("%s: %.80q, %v, want a refusal", name, out, err)
		}
	}
}

func TestOneBadInputDoesNotStopTheOthers(t *testing.T) {
	var out, diag bytes.Buffer
	err := newServer(t, nil).RunPrune(t.Context(), pruner.PruneCommand{
		Inputs: []pruner.Input{{Name: "gone", Err: fs.ErrNotExist}, {Name: "there", From: strings.NewReader("text\n")}}, Out: &out, Err: &diag,
	})
	if err == nil || err.Error() != "1 of 2 inputs could not be read" || !strings.Contains(out.String(), "text\n") || !strings.Contains(diag.String(), "gone: ") {
		t.Errorf("%q, %q, %v", out.String(), diag.String(), err)
	}
}

func TestRecoverCommandSaysWhatIsWrong(t *testing.T) {
	fails := func(err error) pruner.Fetch {
		return func(context.Context, string) (string, error) { return "", err }
	}
	for name, c := range map[string]struct {
		sources []pruner.Fetch
		want    string
	}{
		"damaged":                  {[]pruner.Fetch{fails(pruner.ErrUnreachable), fails(originals.ErrNotFound), fails(originals.ErrDamaged)}, "damaged"},
		"expired":                  {[]pruner.Fetch{fails(originals.ErrExpired), fails(originals.ErrNotFound)}, "its time is over"},
		"a refused token":          {[]pruner.Fetch{fails(pruner.ErrRefused), fails(pruner.ErrUnreachable)}, "refuses the token"},
		"refused, and not on disk": {[]pruner.Fetch{fails(pruner.ErrRefused), fails(originals.ErrNotFound)}, "refuses the token"},
		"no daemon":                {[]pruner.Fetch{pruner.FromDaemon(http.DefaultClient, "http://127.0.0.1:1/rpc", nil), fails(originals.ErrNotFound)}, "no daemon at 127.0.0.1:1"},
		"not found":                {[]pruner.Fetch{fails(originals.ErrNotFound)}, "expired, or was kept elsewhere"},
	} {
		err := pruner.RunRecover(t.Context(), pruner.RecoverCommand{ID: "prn_x", Sources: c.sources, Out: io.Discard})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", name, err, c.want)
		}
	}
}

func TestRecoverCommandPrintsCharactersAsMarkersCountThem(t *testing.T) {
	store := &originals.Memory{}
	id, _ := store.Put(t.Context(), "", "été 😀 end")
	run := func(chars string, ranges ...string) (string, error) {
		var out bytes.Buffer
		err := pruner.RunRecover(t.Context(), pruner.RecoverCommand{ID: id, Ranges: ranges, Chars: chars, Sources: []pruner.Fetch{pruner.FromStore(store, "")}, Out: &out})
		return out.String(), err
	}
	for chars, want := range map[string]string{"0-3": "été", "4-6": "😀 ", "6-99": "end"} {
		if got, err := run(chars); got != want || err != nil {
			t.Errorf("characters %s: %q, %v, want %q", chars, got, err, want)
		}
	}
	for _, bad := range []string{"3", "5-5", "9-10", "-3", "x-y"} {
		if got, err := run(bad); got != "" || err == nil {
			t.Errorf("characters %s: %q, %v, want a refusal", bad, got, err)
		}
	}
	if _, err := run("0-3", "1-2"); err == nil {
		t.Error("lines and characters at once are no error")
	}
}

func TestIdsInSmallLetters(t *testing.T) {
	store := &originals.Memory{}
	id, _ := store.Put(t.Context(), "", "text")
	var out bytes.Buffer
	err := pruner.RunRecover(t.Context(), pruner.RecoverCommand{ID: strings.ToLower(id), Sources: []pruner.Fetch{pruner.FromStore(store, "")}, Out: &out})
	if err != nil || out.String() != "text" {
		t.Errorf("%q, %v", out.String(), err)
	}
}
