package bill

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseUsage(t *testing.T) {
	for name, c := range map[string]struct {
		doc  string
		want Usage
		ok   bool
	}{
		"OpenAI": {
			`{"id":"x","choices":[{"message":{}}],"usage":{"prompt_tokens":2006,"completion_tokens":300,"prompt_tokens_details":{"cached_tokens":1920}}}`,
			Usage{Input: 2006, Cached: 1920, Told: true, Output: 300, ID: "x"},
			true,
		},
		"OpenAI with cache writes": {
			`{"usage":{"prompt_tokens":2000,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":1000,"cache_write_tokens":900}}}`,
			Usage{Input: 2000, Cached: 1000, Told: true, Wrote: 900, WroteTold: true, Output: 3},
			true,
		},
		"Moonshot":          {`{"usage":{"prompt_tokens":100,"completion_tokens":5,"cached_tokens":64}}`, Usage{Input: 100, Cached: 64, Told: true, Output: 5}, true},
		"Moonshot's chunk":  {`{"choices":[{"index":0,"usage":{"prompt_tokens":100,"completion_tokens":5,"cached_tokens":64}}]}`, Usage{Input: 100, Cached: 64, Told: true, Output: 5}, true},
		"DeepSeek":          {`{"usage":{"prompt_tokens":100,"completion_tokens":5,"prompt_cache_hit_tokens":64,"prompt_cache_miss_tokens":36}}`, Usage{Input: 100, Cached: 64, Told: true, Output: 5}, true},
		"Anthropic":         {`{"usage":{"input_tokens":10,"cache_read_input_tokens":80,"cache_creation_input_tokens":10,"output_tokens":7}}`, Usage{Input: 100, Cached: 80, Told: true, Wrote: 10, WroteTold: true, Output: 7}, true},
		"Anthropic's start": {`{"type":"message_start","message":{"usage":{"input_tokens":10,"cache_read_input_tokens":80,"output_tokens":1}}}`, Usage{Input: 90, Cached: 80, Told: true, Output: 1}, true},
		"Anthropic, kept for an hour": {
			`{"usage":{"input_tokens":10,"cache_read_input_tokens":80,"cache_creation_input_tokens":30,"cache_creation":{"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":20},"output_tokens":7}}`,
			Usage{Input: 120, Cached: 80, Told: true, Wrote: 30, Hour: 20, WroteTold: true, Output: 7},
			true,
		},
		"Anthropic with a summary before the answer": {
			`{"usage":{"input_tokens":5,"output_tokens":7,"iterations":[{"input_tokens":100,"cache_read_input_tokens":50,"output_tokens":30},{"input_tokens":5,"cache_read_input_tokens":0,"cache_creation_input_tokens":4,"output_tokens":7}]}}`,
			Usage{Input: 159, Cached: 50, Told: true, Wrote: 4, WroteTold: true, Output: 37},
			true,
		},
		"Anthropic without a cache": {`{"usage":{"input_tokens":10,"output_tokens":7}}`, Usage{Input: 10, Output: 7}, true},
		"Responses": {
			`{"usage":{"input_tokens":2000,"input_tokens_details":{"cached_tokens":1000,"cache_write_tokens":900},"output_tokens":3,"output_tokens_details":{"reasoning_tokens":1},"total_tokens":2003}}`,
			Usage{Input: 2000, Cached: 1000, Told: true, Wrote: 900, WroteTold: true, Output: 3},
			true,
		},
		"Responses' last event": {
			`{"type":"response.completed","response":{"id":"r","usage":{"input_tokens":2000,"input_tokens_details":{"cached_tokens":1024},"output_tokens":3}}}`,
			Usage{Input: 2000, Cached: 1024, Told: true, Output: 3, ID: "r"},
			true,
		},
		"only output so far":  {`{"type":"message_delta","usage":{"output_tokens":15}}`, Usage{}, false},
		"nothing cached":      {`{"usage":{"prompt_tokens":100,"prompt_tokens_details":{"cached_tokens":0}}}`, Usage{Input: 100, Told: true}, true},
		"cache not told":      {`{"usage":{"prompt_tokens":100,"completion_tokens":5,"total_tokens":105}}`, Usage{Input: 100, Output: 5}, true},
		"null details":        {`{"usage":{"prompt_tokens":100,"prompt_tokens_details":null}}`, Usage{Input: 100}, true},
		"usage is null":       {`{"choices":[],"usage":null}`, Usage{}, false},
		"more cached than is": {`{"usage":{"prompt_tokens":10,"cached_tokens":64}}`, Usage{Input: 10, Cached: 64, Told: true}, false},
		"an error":            {`{"error":{"message":"usage"}}`, Usage{}, false},
		"half an answer":      {`{"usage":{"prompt_tokens":10`, Usage{}, false},
		"a word in a text":    {`{"choices":[{"delta":{"content":"\"usage\""}}]}`, Usage{}, false},
	} {
		got, ok := ParseUsage([]byte(c.doc))
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%s: ParseUsage = %+v, %v, want %+v, %v", name, got, ok, c.want, c.ok)
		}
	}
}

func TestMeterFindsTheUsageWhateverTheChunks(t *testing.T) {
	stream := "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}],\"usage\":null}\r\n\r\n: comment\n\n" +
		"data:{\"choices\":[],\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":5,\"cached_tokens\":64}}\n\ndata: [DONE]\n\n"
	want := Usage{Input: 100, Cached: 64, Told: true, Output: 5}
	for i := range len(stream) {
		for _, j := range []int{i, i + 1, min(i+7, len(stream))} {
			if j > len(stream) {
				continue
			}
			var m Meter
			for _, part := range []string{stream[:i], stream[i:j], stream[j:]} {
				if n, err := m.Write([]byte(part)); n != len(part) || err != nil {
					t.Fatalf("Write = %d, %v", n, err)
				}
			}
			if got, ok := m.Usage(); !ok || got != want {
				t.Fatalf("cut at %d and %d: Usage = %+v, %v", i, j, got, ok)
			}
		}
	}
}

func TestMeterAddsUpWhatComesLater(t *testing.T) {
	var m Meter
	fmt.Fprint(&m, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":10,\"cache_read_input_tokens\":80,\"cache_creation_input_tokens\":5,\"output_tokens\":1}}}\n\n",
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":15}}\n\n",
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"usage\":{\"input_tokens\":10,\"output_tokens\":40}}\n\n")
	want := Usage{Input: 95, Cached: 80, Told: true, Wrote: 5, WroteTold: true, Output: 40}
	if got, ok := m.Usage(); !ok || got != want {
		t.Errorf("Usage = %+v, %v, want %+v", got, ok, want)
	}
}

func TestMeterHoldsNoLongLine(t *testing.T) {
	var m Meter
	part := make([]byte, 4096)
	for range 100 {
		m.Write(part)
	}
	if len(m.line) > 2*maxMeterLine || cap(m.line) > 4*maxMeterLine {
		t.Errorf("holds %d bytes", cap(m.line))
	}
	fmt.Fprint(&m, "\ndata: {\"usage\":{\"prompt_tokens\":7}}")
	if u, ok := m.Usage(); !ok || u.Input != 7 {
		t.Errorf("after a long line: %+v, %v", u, ok)
	}
}

func TestMeterFindsTheUsageAtTheEndOfALongLine(t *testing.T) {
	text := strings.Repeat(`I said \"usage\":{} `, 30_000)
	event := `data: {"type":"response.completed","response":{"output":[{"text":"` + text + `"}],"usage":{"input_tokens":2000,"input_tokens_details":{"cached_tokens":1024},"output_tokens":3},"metadata":{"a":"\"usage\":{"}}}` + "\n\n"
	for _, size := range []int{1, 100, 4096, 1 << 17, len(event)} {
		var m Meter
		for rest := event; rest != ""; {
			n := min(size, len(rest))
			m.Write([]byte(rest[:n]))
			rest = rest[n:]
		}
		if u, ok := m.Usage(); !ok || u.Input != 2000 || u.Cached != 1024 || u.Output != 3 {
			t.Errorf("in pieces of %d: %+v, %v", size, u, ok)
		}
	}
}

func FuzzMeter(f *testing.F) {
	f.Add([]byte("data: {\"usage\":{\"prompt_tokens\":7}}\n\n"), 3)
	f.Fuzz(func(t *testing.T, stream []byte, cut int) {
		cut = min(max(cut, 0), len(stream))
		var whole, parts Meter
		whole.Write(stream)
		parts.Write(stream[:cut])
		parts.Write(stream[cut:])
		a, okA := whole.Usage()
		b, okB := parts.Usage()
		if okA != okB || a != b {
			t.Errorf("whole %+v %v, in parts %+v %v", a, okA, b, okB)
		}
	})
}
