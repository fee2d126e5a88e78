package proxy_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"secateur/internal/llm/proxy"
)

// A provider says that earlier messages have changed. Whose fault that is, follows from the
// client's own messages.
func TestAMissOfTheCacheThatWeCausedIsAnErrorAndALoss(t *testing.T) {
	text := func(turn int) string { return fmt.Sprintf("part %d\n", turn) + bigText(200) }
	compare := func(body string) string {
		return `{"diagnostics":{"previous_message_id":"msg_1"},` + body[1:]
	}
	for _, tt := range []struct {
		rule   string
		second string
		ours   bool
	}{
		{"the client continues", claudeTalk(3, false, text), true},
		{"the client has changed its messages", strings.Replace(claudeTalk(3, false, text), "I look at part 0", "I looked at part 0", 1), false},
		{"nothing was cut", claudeTalk(3, false, func(int) string { return "short" }), false},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			n := 0
			p := newProvider(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				w.Header().Set("Content-Type", "application/json")
				n++
				why := ""
				if n == 2 {
					why = `,"diagnostics":{"cache_miss_reason":{"type":"messages_changed","cache_missed_input_tokens":4000}}`
				}
				_, _ = fmt.Fprintf(w, `{"id":"msg_%d","type":"message","content":[],"usage":{"input_tokens":0,"cache_read_input_tokens":0,"cache_creation_input_tokens":%d,"output_tokens":1}%s}`, n, len(body)/4, why)
			})
			var log lines
			px := newProxy(t, func(o *proxy.Options) {
				pruningOn(o)
				o.Log = slog.New(slog.NewJSONHandler(&log, nil))
			}, anthropicOnly(p))
			first := claudeTalk(2, false, text)
			if tt.rule == "nothing was cut" {
				first = claudeTalk(2, false, func(int) string { return "short" })
			}
			px.do(t, http.MethodPost, "/v1/messages", first)
			px.running.Wait()
			px.do(t, http.MethodPost, "/v1/messages", compare(tt.second))
			px.running.Wait()
			if said := strings.Contains(log.String(), `"level":"ERROR"`); said != tt.ours {
				t.Errorf("an error is in the log: %v, want %v: %s", said, tt.ours, log.String())
			}
			s := px.told.settled[1]
			if lost := s.Spent > s.Passthrough; lost != tt.ours {
				t.Errorf("spent %v, passing through %v; want a loss: %v", s.Spent, s.Passthrough, tt.ours)
			}
		})
	}
}
