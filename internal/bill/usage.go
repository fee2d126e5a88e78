package bill

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Usage is what a provider counted for one request.
type Usage struct {
	Input  float64 // all tokens of the prompt, cached or not
	Cached float64 // of these, read from the cache
	Told   bool    // the provider said how many were cached; if not, Cached is 0
	Wrote  float64 // of these, written to the cache at the price of that; 0 where the provider does not say
	Output float64
}

// answer holds the members that tell the usage, whatever the provider calls them.
type answer struct {
	Usage   *counts `json:"usage"`
	Message *struct {
		Usage *counts `json:"usage"` // Anthropic's message_start
	} `json:"message"`
	Choices []struct {
		Usage *counts `json:"usage"` // Moonshot's last chunk
	} `json:"choices"`
}

type counts struct {
	PromptTokens     *float64 `json:"prompt_tokens"`
	CompletionTokens *float64 `json:"completion_tokens"`
	PromptDetails    *struct {
		CachedTokens     *float64 `json:"cached_tokens"`
		CacheWriteTokens *float64 `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CachedTokens     *float64 `json:"cached_tokens"`           // Moonshot
	CacheHitTokens   *float64 `json:"prompt_cache_hit_tokens"` // DeepSeek
	CacheMissTokens  *float64 `json:"prompt_cache_miss_tokens"`
	InputTokens      *float64 `json:"input_tokens"` // Anthropic: what was neither read from the cache nor written to it
	OutputTokens     *float64 `json:"output_tokens"`
	CacheReadTokens  *float64 `json:"cache_read_input_tokens"`
	CacheWriteTokens *float64 `json:"cache_creation_input_tokens"`
}

// lenient takes what a provider sends as it is: an answer is not ours to judge.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// ParseUsage reads the usage out of a JSON answer, or out of one chunk of a
// streamed one. It reports false where there is none.
func ParseUsage(doc []byte) (Usage, bool) {
	if !bytes.Contains(doc, []byte(`"usage"`)) {
		return Usage{}, false
	}
	var a answer
	if err := json.Unmarshal(doc, &a, lenient); err != nil {
		return Usage{}, false
	}
	c := a.Usage
	if c == nil && a.Message != nil {
		c = a.Message.Usage
	}
	for i := 0; c == nil && i < len(a.Choices); i++ {
		c = a.Choices[i].Usage
	}
	if c == nil {
		return Usage{}, false
	}
	return c.usage()
}

func (c *counts) usage() (Usage, bool) {
	var u Usage
	u.Output = first(c.CompletionTokens, c.OutputTokens)
	var detailCached, detailWrote *float64
	if d := c.PromptDetails; d != nil {
		detailCached, detailWrote = d.CachedTokens, d.CacheWriteTokens
	}
	u.Cached = first(detailCached, c.CachedTokens, c.CacheHitTokens, c.CacheReadTokens)
	u.Told = detailCached != nil || c.CachedTokens != nil || c.CacheHitTokens != nil || c.CacheReadTokens != nil
	u.Wrote = first(detailWrote, c.CacheWriteTokens)
	switch {
	case c.PromptTokens != nil:
		u.Input = *c.PromptTokens
	case c.InputTokens != nil:
		u.Input = *c.InputTokens + u.Cached + u.Wrote
	case c.CacheHitTokens != nil && c.CacheMissTokens != nil:
		u.Input = *c.CacheHitTokens + *c.CacheMissTokens
	}
	// Counts that contradict each other are no counts.
	ok := u.Input > 0 && u.Cached >= 0 && u.Wrote >= 0 && u.Cached+u.Wrote <= u.Input
	return u, ok
}

func first(values ...*float64) float64 {
	for _, v := range values {
		if v != nil {
			return *v
		}
	}
	return 0
}

// Meter finds the usage in a stream of server-sent events as it passes. The zero
// value is ready. It holds one line at a time, and no line longer than
// maxMeterLine: a chunk that tells the usage is short.
type Meter struct {
	line  []byte
	skip  bool // the current line is too long to matter
	usage Usage
	found bool
}

const maxMeterLine = 64 << 10

// Write takes the next bytes of the stream. It never fails.
func (m *Meter) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			m.hold(rest)
			break
		}
		if len(m.line) == 0 && !m.skip {
			m.read(rest[:i]) // the usual case: a whole line, not copied
		} else {
			m.hold(rest[:i])
			m.read(m.line)
		}
		m.line, m.skip = m.line[:0], false
		rest = rest[i+1:]
	}
	return len(p), nil
}

// Usage is what the stream has told so far; false if nothing.
func (m *Meter) Usage() (Usage, bool) {
	if len(m.line) > 0 {
		m.read(m.line) // a last line without its end
	}
	return m.usage, m.found
}

func (m *Meter) hold(p []byte) {
	if m.skip || len(m.line)+len(p) > maxMeterLine {
		m.skip, m.line = true, m.line[:0]
		return
	}
	m.line = append(m.line, p...)
}

func (m *Meter) read(line []byte) {
	data, ok := bytes.CutPrefix(line, []byte("data:"))
	if !ok || m.skip {
		return
	}
	u, ok := ParseUsage(data)
	if !ok {
		return
	}
	u.Output = max(u.Output, m.usage.Output)
	m.usage, m.found = u, true
}
