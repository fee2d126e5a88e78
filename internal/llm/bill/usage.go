package bill

import (
	"bytes"
	"cmp"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Usage is what a provider counted for one request.
type Usage struct {
	Input  float64 // all tokens of the prompt, cached or not
	Cached float64 // of these, read from the cache
	Told   bool    // the provider said how many were cached; if not, Cached is 0
	Wrote  float64 // of these, written to the cache at the price of that
	Hour   float64 // of these, to be kept for an hour
	Output float64

	WroteTold bool // the provider said how many were written; if not, Wrote is 0
}

// answer holds the members that tell the usage, whatever the provider calls them.
type answer struct {
	Usage   *counts `json:"usage"`
	Message *struct {
		Usage *counts `json:"usage"` // Anthropic's message_start
	} `json:"message"`
	Response *struct {
		Usage *counts `json:"usage"` // response.completed, .incomplete, .failed
	} `json:"response"`
	Choices []struct {
		Usage *counts `json:"usage"` // Moonshot's last chunk
	} `json:"choices"`
}

// counts are the three shapes at once: chat completions, with what their providers have added; Responses, whose
// input_tokens are all of the prompt and come with details; and Messages, whose input_tokens are what lies behind
// the last mark and come without.
type counts struct {
	PromptTokens     *float64 `json:"prompt_tokens"`
	CompletionTokens *float64 `json:"completion_tokens"`
	PromptDetails    *details `json:"prompt_tokens_details"`
	CachedTokens     *float64 `json:"cached_tokens"`           // Moonshot
	CacheHitTokens   *float64 `json:"prompt_cache_hit_tokens"` // DeepSeek
	CacheMissTokens  *float64 `json:"prompt_cache_miss_tokens"`

	InputTokens  *float64 `json:"input_tokens"`
	OutputTokens *float64 `json:"output_tokens"`
	InputDetails *details `json:"input_tokens_details"` // Responses

	CacheReadTokens  *float64 `json:"cache_read_input_tokens"` // Messages
	CacheWriteTokens *float64 `json:"cache_creation_input_tokens"`
	CacheWrites      *struct {
		Hour *float64 `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
	Iterations []counts `json:"iterations"` // one for each pass over the model; what stands beside them leaves some out
}

type details struct {
	CachedTokens     *float64 `json:"cached_tokens"`
	CacheWriteTokens *float64 `json:"cache_write_tokens"`
}

// lenient takes what a provider sends as it is: an answer is not ours to judge.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// ParseUsage reads the usage out of a JSON answer, or out of one event of a
// streamed one. It reports false where there is none.
func ParseUsage(doc []byte) (Usage, bool) {
	u := parseUsage(doc)
	return u, u.makesSense()
}

// parseUsage may find no more than a part of the usage: an event that only says how much output there is by now.
func parseUsage(doc []byte) Usage {
	if !bytes.Contains(doc, []byte(`"usage"`)) {
		return Usage{}
	}
	var a answer
	if err := json.Unmarshal(doc, &a, lenient); err != nil {
		return Usage{}
	}
	c := a.Usage
	switch {
	case c != nil:
	case a.Message != nil:
		c = a.Message.Usage
	case a.Response != nil:
		c = a.Response.Usage
	}
	for i := 0; c == nil && i < len(a.Choices); i++ {
		c = a.Choices[i].Usage
	}
	if c == nil {
		return Usage{}
	}
	return c.usage()
}

func (c *counts) usage() (u Usage) {
	if len(c.Iterations) > 0 {
		for i := range c.Iterations {
			u = u.plus(c.Iterations[i].usage())
		}
		return u
	}
	d := cmp.Or(c.PromptDetails, c.InputDetails)
	if d == nil {
		d = &details{}
	}
	u.Output = first(c.CompletionTokens, c.OutputTokens)
	u.Cached = first(d.CachedTokens, c.CachedTokens, c.CacheHitTokens, c.CacheReadTokens)
	u.Told = d.CachedTokens != nil || c.CachedTokens != nil || c.CacheHitTokens != nil || c.CacheReadTokens != nil
	u.Wrote = first(d.CacheWriteTokens, c.CacheWriteTokens)
	u.WroteTold = d.CacheWriteTokens != nil || c.CacheWriteTokens != nil
	if c.CacheWrites != nil {
		u.Hour = first(c.CacheWrites.Hour)
	}
	switch {
	case c.PromptTokens != nil:
		u.Input = *c.PromptTokens
	case c.InputTokens != nil && (c.InputDetails != nil || c.CacheReadTokens == nil && c.CacheWriteTokens == nil):
		u.Input = *c.InputTokens
	case c.InputTokens != nil:
		u.Input = *c.InputTokens + u.Cached + u.Wrote
	case c.CacheHitTokens != nil && c.CacheMissTokens != nil:
		u.Input = *c.CacheHitTokens + *c.CacheMissTokens
	}
	return u
}

// makesSense tells whether there are counts that do not contradict each other.
func (u Usage) makesSense() bool {
	return u.Input > 0 && u.Cached >= 0 && u.Hour >= 0 && u.Hour <= u.Wrote && u.Cached+u.Wrote <= u.Input
}

func (u Usage) plus(v Usage) Usage {
	return Usage{
		Input: u.Input + v.Input, Cached: u.Cached + v.Cached, Wrote: u.Wrote + v.Wrote, Hour: u.Hour + v.Hour, Output: u.Output + v.Output,
		Told: u.Told || v.Told, WroteTold: u.WroteTold || v.WroteTold,
	}
}

func first(values ...*float64) float64 {
	for _, v := range values {
		if v != nil {
			return *v
		}
	}
	return 0
}
