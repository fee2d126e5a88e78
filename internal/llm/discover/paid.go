package discover

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"secateur/internal/llm/bill"
)

// asked is a request as its agent recorded it.
type asked struct {
	id    string // "": it cannot be found twice
	day   string // such as "2026-09-30"
	model string
	tier  string
	usage bill.Usage
}

// maxLine is the longest line that is read. A longer one is skipped: it has no usage in it.
const maxLine = 32 << 20

// ledger gathers the requests of one file, line by line.
type ledger struct {
	agent    string
	requests []asked
	at       map[string]int // of a request by its id
	model    string         // of Codex's turn
	total    float64        // tokens that Codex has counted so far
	broken   int            // lines that are not JSON
}

var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// read reads a stream of lines and tells how many bytes each had.
func (l *ledger) read(r io.Reader, passed func(int)) error {
	b := bufio.NewReaderSize(r, 256<<10)
	var long []byte
	for {
		line, err := b.ReadSlice('\n')
		passed(len(line))
		if errors.Is(err, bufio.ErrBufferFull) {
			if len(long) <= maxLine {
				long = append(long, line...)
			}
			continue
		}
		if len(long) > 0 {
			long = append(long, line...)
			line = long
		}
		if len(line) <= maxLine {
			l.line(line)
		}
		if long = long[:0]; cap(long) > 1<<20 {
			long = nil
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// line takes a line of a transcript of Claude Code or of a rollout of Codex. Most lines tell no
// usage and are not parsed.
func (l *ledger) line(line []byte) {
	has := func(name string) bool { return bytes.Contains(line, []byte(name)) }
	switch {
	case l.agent != ClaudeCode && (has(`"token_count"`) || has(`"turn_context"`)):
		l.codex(line)
	case l.agent != Codex && has(`"usage"`) && has(`"assistant"`):
		l.claude(line)
	}
}

func (l *ledger) claude(line []byte) {
	var rec struct {
		Type      string `json:"type"`
		Timestamp string `json:"timestamp"`
		RequestID string `json:"requestId"`
		Message   struct {
			ID    string         `json:"id"`
			Model string         `json:"model"`
			Usage jsontext.Value `json:"usage"`
		} `json:"message"`
	}
	if json.Unmarshal(line, &rec, lenient) != nil {
		l.broken++
		return
	}
	var how struct {
		Speed string `json:"speed"`
		Tier  string `json:"service_tier"`
	}
	_ = json.Unmarshal(rec.Message.Usage, &how, lenient) // of another type: at the usual price
	usage, ok := bill.ParseUsage(slices.Concat([]byte(`{"usage":`), rec.Message.Usage, []byte("}")))
	if rec.Type != "assistant" || !ok || rec.Message.Model == "<synthetic>" {
		return
	}
	l.agent = ClaudeCode
	a := asked{rec.Message.ID + " " + rec.RequestID, day(rec.Timestamp), rec.Message.Model, how.Speed, usage}
	if how.Tier == "batch" {
		a.tier = "batch"
	}
	if rec.Message.ID == "" {
		a.id = ""
	}
	l.add(a)
}

func (l *ledger) codex(line []byte) {
	var rec struct {
		Timestamp string `json:"timestamp"`
		Type      string `json:"type"`
		Payload   struct {
			Type  string `json:"type"`
			Model string `json:"model"`
			Tier  string `json:"service_tier"`
			Info  *struct {
				Total struct {
					Tokens float64 `json:"total_tokens"`
				} `json:"total_token_usage"`
				Last struct {
					Input  float64 `json:"input_tokens"`
					Cached float64 `json:"cached_input_tokens"`
					Wrote  float64 `json:"cache_write_input_tokens"`
					Output float64 `json:"output_tokens"`
				} `json:"last_token_usage"`
			} `json:"info"`
		} `json:"payload"`
	}
	if json.Unmarshal(line, &rec, lenient) != nil {
		l.broken++
		return
	}
	switch p := rec.Payload; {
	case rec.Type == "turn_context":
		l.agent, l.model = Codex, p.Model
	case rec.Type != "event_msg" || p.Type != "token_count" || p.Info == nil:
	case p.Info.Last.Input <= 0 || p.Info.Total.Tokens > 0 && p.Info.Total.Tokens == l.total: // told again
	default:
		l.agent, l.total = Codex, p.Info.Total.Tokens
		u := bill.Usage{Input: p.Info.Last.Input, Cached: min(p.Info.Last.Cached, p.Info.Last.Input), Told: true, Output: p.Info.Last.Output}
		if p.Info.Last.Wrote > 0 {
			u.Wrote, u.WroteTold = min(p.Info.Last.Wrote, u.Input-u.Cached), true
		}
		l.add(asked{"", day(rec.Timestamp), l.model, p.Tier, u})
	}
}

// add takes a request. Each block of an answer tells the usage again, the last one all of its output.
func (l *ledger) add(a asked) {
	if i, known := l.at[a.id]; known && a.id != "" {
		a.usage.Output = max(a.usage.Output, l.requests[i].usage.Output)
		l.requests[i].usage = a.usage
		return
	}
	if l.at == nil {
		l.at = make(map[string]int)
	}
	l.at[a.id] = len(l.requests)
	l.requests = append(l.requests, a)
}

// cost returns the dollars of the prompt and of the output.
func (a asked) cost(p bill.Prices) (input, output float64) {
	u := a.usage
	if !u.WroteTold && p.Cache == bill.Endings.String() { // Codex does not write down what the cache took
		u.Wrote = u.Input - u.Cached
	}
	const million = 1e6
	times := tierTimes(a.tier) / million
	return p.PromptCost(u) * times, p.OutputCost(u) * times
}

// tierTimes is the multiple of the list price that a service tier costs.
func tierTimes(tier string) float64 {
	switch tier {
	case "batch", "flex":
		return 0.5
	case "fast", "priority":
		return 2
	}
	return 1
}

// day is the day of a time in RFC 3339.
func day(timestamp string) string {
	d, _, _ := strings.Cut(timestamp, "T")
	return d
}
