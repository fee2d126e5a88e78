package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"secateur/test/provider"
)

// position is a part of a prompt that a cache entry can end with: a tool, a block, an item.
type position struct {
	tokens []uint64
	marker *marker // of Messages
	ending bool    // of Responses: an eligible message ends here
	// Consecutive positions of one run, results or calls, count as one when a cache looks back.
	run string
}

// marker is a cache_control.
type marker struct {
	Type string `json:"type"`
	TTL  string `json:"ttl"`
}

func (m *marker) hour() bool { return m.TTL == "1h" }

// prompt is what a model reads, in order, and the additional cache key.
type prompt struct {
	scope     string
	positions []position
}

func (p *prompt) add(raw json.RawMessage) *position {
	p.positions = append(p.positions, position{tokens: words(raw)})
	return &p.positions[len(p.positions)-1]
}

func (p *prompt) total() (n int) {
	for _, q := range p.positions {
		n += len(q.tokens)
	}
	return n
}

// imageTokens is the cost of an image, whatever its bytes.
const imageTokens = 1500

// words returns the tokens of all strings of a part. A marker is no part of the prompt, and an
// image's bytes are not text.
func words(raw json.RawMessage) (tokens []uint64) {
	yield := func(t uint64) { tokens = append(tokens, t) }
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			provider.Tokens(v, yield)
		case json.Number, bool:
			provider.Tokens(fmt.Sprint(v), yield)
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			if isImage(v) {
				one := fmt.Sprint(v)
				for i := range imageTokens {
					provider.Tokens(one[i%len(one):i%len(one)+1], yield)
				}
				return
			}
			for _, name := range slices.Sorted(maps.Keys(v)) {
				provider.Tokens(name, yield)
				walk(v[name])
			}
		}
	}
	walk(value(raw))
	return append(tokens, 0) // two parts never equal one
}

func isImage(v map[string]any) bool { return v["type"] == "image" || v["type"] == "input_image" }

// value returns a document without its markers; nil: invalid.
func value(raw json.RawMessage) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return unmarked(v)
}

func unmarked(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = unmarked(v[i])
		}
	case map[string]any:
		delete(v, "cache_control")
		for name := range v {
			v[name] = unmarked(v[name])
		}
	}
	return v
}
