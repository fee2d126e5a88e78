package proxy

import (
	"strings"
	"testing"

	"secateur/internal/llm/bill"
)

func TestEventsKnowWhereTheyStand(t *testing.T) {
	for _, tt := range []struct {
		rule, stream      string
		between, finished bool
	}{
		{"nothing", "", true, false},
		{"an event", "data: 1\n\n", true, false},
		{"an event with carriage returns", "data: 1\r\n\r\n", true, false},
		{"a line that has no end", "data: 1", false, false},
		{"an event that has no end", "data: 1\n", false, false},
		{"half a line end", "data: 1\r\n\r", false, false},
		{"a comment", ": ping\n\n", true, false},
		{"a comment without a blank line", "data: 1\n\n: ping\n", true, false},
		{"the end", "data: 1\n\ndata: [DONE]\n\n", true, true},
		{"the end without a space", "data:[DONE]\n\n", true, true},
		{"the end of which the line end is missing", "data: [DONE]", false, true},
		{"half the end", "data: [DONE", false, false},
		{"the end within a text", "data: \"data: [DONE]\"\n\n", true, false},
		{"the end in a comment", ": data: [DONE]\n\n", true, false},
		{"a shorter line after a long one", "data: [DON-]\n\n]\n\n", true, false},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			for cut := range len(tt.stream) + 1 {
				var e events
				e.read([]byte(tt.stream[:cut]))
				e.read([]byte(tt.stream[cut:]))
				if e.finished() != tt.finished {
					t.Errorf("cut at %d: finished %v, want %v", cut, e.finished(), tt.finished)
				}
			}
			if got := wholeEvents([]byte(tt.stream)) == len(tt.stream); got != tt.between {
				t.Errorf("a new event can begin behind it: %v, want %v", got, tt.between)
			}
		})
	}
}

func FuzzEventsDoNotDependOnChunks(f *testing.F) {
	f.Add("data: 1\r\n\r\ndata: [DONE]\n\n", uint8(3))
	f.Add(": x\n\ndata:[DONE]", uint8(1))
	f.Fuzz(func(t *testing.T, stream string, step uint8) {
		var whole, pieces events
		whole.read([]byte(stream))
		for rest := stream; rest != ""; {
			n := min(int(step)+1, len(rest))
			pieces.read([]byte(rest[:n]))
			rest = rest[n:]
		}
		if whole.finished() != pieces.finished() {
			t.Errorf("%q in pieces of %d: %v, whole %v", stream, int(step)+1, pieces.finished(), whole.finished())
		}
		if end := wholeEvents([]byte(stream)); pending(stream[:end]) {
			t.Errorf("%q: behind %q an event is still open", stream, stream[:end])
		}
	})
}

// pending reads a stream as clients do, line by line, and reports whether it ends within an event.
func pending(stream string) bool {
	stream = strings.ReplaceAll(strings.ReplaceAll(stream, "\r\n", "\n"), "\r", "\n")
	open := false
	for line := range strings.Lines(stream) {
		switch {
		case line == "\n":
			open = false
		case line[0] != ':' || !strings.HasSuffix(line, "\n"):
			open = true
		}
	}
	return open
}

// FuzzManyLines splits a stream in two: the final state does not depend on the split.
func FuzzManyLines(f *testing.F) {
	f.Add("data: 1\n\ndata: 2\r\n\r\n: ping\n\ndata: [DONE]\n\n", 9)
	f.Add("data: [DO\nNE]\n\n\ndata: [DONE", 6)
	f.Fuzz(func(t *testing.T, stream string, cut int) {
		cut = min(max(cut, 0), len(stream))
		var lines, pieces events
		lines.readLines([]byte(stream))
		pieces.read([]byte(stream[:cut]))
		pieces.read([]byte(stream[cut:]))
		if lines.finished() != pieces.finished() || lines.done != pieces.done {
			t.Errorf("%q cut at %d: %+v, line by line %+v", stream, cut, pieces, lines)
		}
	})
}

// FuzzMeter does the same for the usage in a stream.
func FuzzMeter(f *testing.F) {
	const chunk = "data: {\"choices\":[{\"delta\":{\"content\":\"ging\"}}]}\n\n"
	usage := "data: {\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3}}\n\n"
	for cut := range len(usage) {
		f.Add(chunk+usage+chunk, len(chunk)+cut)
	}
	f.Add(chunk+"data: {\"usage\":{\"prompt_tokens\":7}}", 3)
	f.Add("0", 37)
	f.Fuzz(func(t *testing.T, stream string, cut int) {
		cut = min(max(cut, 0), len(stream))
		var all bill.Meter
		_, _ = all.Write([]byte(stream))
		want, told := all.Usage()
		m := meter{stream: true, plain: true}
		m.read([]byte(stream[:cut]))
		m.read([]byte(stream[cut:]))
		switch got := m.result(); {
		case (got != nil) != told, told && *got != want:
			t.Errorf("%q cut at %d: usage %+v, want %+v, %v", stream, cut, got, want, told)
		}
	})
}

// FuzzLastBlankLine compares the search with one that checks every position.
func FuzzLastBlankLine(f *testing.F) {
	for _, s := range []string{"", "\n", "\n\n", "a\n\nb", "a\r\n\r\nb", "a\r\rb", "\n\n\r\r", "\r\r\n\n", "\r\r\r", "\n\n\rx\r\r", "\r\n\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want := 0
		for _, blank := range []string{"\n\n", "\n\r\n", "\r\r"} {
			if i := strings.LastIndex(s, blank); i >= 0 {
				want = max(want, i+len(blank))
			}
		}
		if got := lastBlankLine([]byte(s)); got != want {
			t.Errorf("%q: %d, want %d", s, got, want)
		}
	})
}
