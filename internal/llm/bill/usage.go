package bill

import (
	"bytes"
	"cmp"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Usage is a provider's count of one request.
type Usage struct {
	Input  float64 // all tokens of the prompt, cached or not
	Cached float64 // part of Input that was read from the cache
	Told   bool    // the provider reported the cached tokens; if not, Cached is 0
	Wrote  float64 // part of Input that was written to the cache at the write price
	Hour   float64 // part of Wrote to be stored for an hour
	Output float64

	WroteTold bool // the provider reported the written tokens; if not, Wrote is 0

	ID string // of the response; "": none
	// Tokens that the cache has missed because earlier messages changed, by the provider's own
	// diagnosis; 0: none. See [Account.Settle].
	Missed float64
}

// answer holds the members that carry the usage, in every provider's shape.
type answer struct {
	report
	Message  *report `json:"message"`  // Anthropic's message_start
	Response *report `json:"response"` // response.completed, .incomplete, .failed
	Choices  []struct {
		Usage *counts `json:"usage"` // Moonshot's last chunk
	} `json:"choices"`
}

// report is what a response says about its request. Members besides the usage are read leniently:
// another shape of theirs must not hide the usage.
type report struct {
	ID        jsontext.Value `json:"id"`
	Usage     *counts        `json:"usage"`
	Anthropic jsontext.Value `json:"diagnostics"`
	OpenAI    jsontext.Value `json:"prompt_cache_diagnostics"`
}

// id returns the id of the response; "": none.
func (r *report) id() (id string) {
	if r.ID.Kind() == '"' {
		_ = json.Unmarshal(r.ID, &id, lenient)
	}
	return id
}

// missed returns the tokens that the cache has missed because of changed messages. Other reasons
// are never ours: we change neither tools nor instructions.
func (r *report) missed() float64 {
	var anthropic struct {
		Reason struct {
			Type   string  `json:"type"`
			Missed float64 `json:"cache_missed_input_tokens"`
		} `json:"cache_miss_reason"` // null: nothing has changed, or it is not known yet
	}
	if r.Anthropic.Kind() == '{' && json.Unmarshal(r.Anthropic, &anthropic, lenient) == nil && anthropic.Reason.Type == "messages_changed" {
		return max(0, anthropic.Reason.Missed)
	}
	var openAI struct {
		Type   string  `json:"type"`
		Reason string  `json:"reason"`
		Missed float64 `json:"cache_missed_tokens"`
	}
	if r.OpenAI.Kind() == '{' && json.Unmarshal(r.OpenAI, &openAI, lenient) == nil && openAI.Type == "cache_miss" && openAI.Reason == "input_changed" {
		return max(0, openAI.Missed)
	}
	return 0
}

// counts combines three shapes. Chat completions come with their providers' additions. The
// input_tokens of Responses cover the whole prompt and come with details. The input_tokens of
// Messages cover only what follows the last mark and come without details.
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
	// one per pass over the model; the members beside it leave some passes out
	Iterations []counts `json:"iterations"`
}

type details struct {
	CachedTokens     *float64 `json:"cached_tokens"`
	CacheWriteTokens *float64 `json:"cache_write_tokens"`
}

// lenient accepts malformed JSON from a provider: validating its response is not our task.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// ParseUsage reads the usage from a JSON response or from one event of a streamed one. It returns
// false if it finds none.
func ParseUsage(doc []byte) (Usage, bool) {
	u := parseUsage(doc)
	return u, u.makesSense()
}

// parseUsage may return a partial usage: some events only report the output so far.
func parseUsage(doc []byte) Usage {
	if !bytes.Contains(doc, []byte(`"usage"`)) {
		return Usage{}
	}
	var a answer
	if err := json.Unmarshal(doc, &a, lenient); err != nil {
		return Usage{}
	}
	r := &a.report
	switch {
	case r.Usage != nil:
	case a.Message != nil:
		r = a.Message
	case a.Response != nil:
		r = a.Response
	}
	c := r.Usage
	for i := 0; c == nil && i < len(a.Choices); i++ {
		c = a.Choices[i].Usage
	}
	if c == nil {
		return Usage{}
	}
	u := c.usage()
	u.ID, u.Missed = r.id(), r.missed()
	return u
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

// makesSense reports whether the counts are present and consistent.
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
