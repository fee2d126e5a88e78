package downstream_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"secateur/internal/mcp/downstream"
)

func FuzzEvent(f *testing.F) {
	f.Add(uint64(1), uint64(1), []byte(`{"jsonrpc":"2.0"}`), []byte("{\n\"a\":\r\n1}"))
	f.Add(uint64(0), uint64(0), []byte(``), []byte("data: x\n\nid: 5\n\n"))
	f.Add(uint64(1)<<61, uint64(1)<<61, []byte("\x00\xff"), []byte(": comment"))
	f.Fuzz(func(t *testing.T, stream, message uint64, one, two []byte) {
		stream, message = stream>>2, message>>2
		wire := downstream.AppendPriming(nil, stream, message)
		for _, msg := range [][]byte{one, two} {
			wire = downstream.AppendEvent(wire, stream, message, msg)
		}
		all := eventsOf(bytes.NewReader(wire))
		id := fmt.Sprintf("%d-%d", stream, message)
		if ev := all.must(t); ev.id != id || ev.data != "" || ev.name != "" || ev.retry != "1000" {
			t.Errorf("priming event %+v", ev)
		}
		if s, m, ok := downstream.ReadPlace(id); !ok || s != stream || m != message {
			t.Errorf("ReadPlace(%s) = %d, %d, %v", id, s, m, ok)
		}
		if message == 0 {
			id = "" // of a stream that cannot be resumed
		}
		for _, msg := range [][]byte{one, two} {
			want := strings.NewReplacer("\n", " ", "\r", " ").Replace(string(msg))
			if ev := all.must(t); ev != (event{name: "message", id: id, data: want}) {
				t.Errorf("%+v, want %q", ev, want)
			}
		}
		if _, err := all.next(); !errors.Is(err, io.EOF) {
			t.Errorf("something is left: %v", err)
		}
	})
}

func TestReadPlace(t *testing.T) {
	for id, ok := range map[string]bool{
		"0-0": true, "3-17": true, "4611686018427387903-1": true,
		"": false, "-": false, "1": false, "1-": false, "-1": false, "01-1": false, "1-1-1": false, "+1-1": false, "1-x": false,
		"18446744073709551615-1": false, "99999999999999999999999-1": false, "1 -1": false,
	} {
		if _, _, got := downstream.ReadPlace(id); got != ok {
			t.Errorf("ReadPlace(%q) = %v, want %v", id, got, ok)
		}
	}
}

func TestAccept(t *testing.T) {
	for _, c := range []struct {
		values       []string
		json, stream bool
	}{
		{nil, true, false},
		{[]string{""}, true, false},
		{[]string{"*/*"}, true, false},
		{[]string{"application/json"}, true, false},
		{[]string{"application/*"}, true, false},
		{[]string{"application/json, text/event-stream"}, true, true},
		{[]string{"Application/JSON;q=0.9 , Text/Event-Stream ; q=1"}, true, true},
		{[]string{"application/json", "text/event-stream"}, true, true},
		{[]string{"text/event-stream"}, false, true},
		{[]string{"text/*"}, false, true},
		{[]string{"text/html"}, false, false},
		{[]string{"application/json;q=0, text/event-stream;q=0.0"}, false, false},
		{[]string{"application/json;q=0, */*"}, true, false},
		{[]string{",;,=;q"}, true, false},
	} {
		if json, stream := downstream.Accepts(c.values...); json != c.json || stream != c.stream {
			t.Errorf("Accept: %q: JSON %v, stream %v, want %v, %v", c.values, json, stream, c.json, c.stream)
		}
	}
}
