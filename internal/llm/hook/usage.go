package hook

import (
	"bytes"
	"strconv"

	"secateur/internal/rawjson"
)

// Usage is what the answers at the end of a transcript say of their prompts, in tokens.
type Usage struct{ Prompt, Cached int }

// CacheShare is the share of prompts that came from the provider's cache.
func (u Usage) CacheShare() float64 { return float64(u.Cached) / float64(max(u.Prompt, 1)) }

// ReadUsage adds up the usage in the end of a transcript. An answer stands in several lines, one for each of its blocks, and counts once.
func ReadUsage(transcript string) (u Usage, err error) {
	tail, err := readTail(transcript)
	if err != nil {
		return u, err
	}
	last := ""
	for line := range bytes.Lines(tail) {
		if line = bytes.TrimSpace(line); len(line) == 0 || !bytes.Contains(line, []byte(`"usage"`)) || rawjson.Check(line, maxDepth) != nil {
			continue
		}
		message := rawjson.Get(line, "message")
		id := rawjson.GetText(message, "id")
		if rawjson.GetText(line, "type") != "assistant" || id == last {
			continue
		}
		last = id
		usage := rawjson.Get(message, "usage")
		number := func(name string) int {
			n, _ := strconv.Atoi(string(rawjson.Get(usage, name)))
			return max(n, 0)
		}
		cached := number("cache_read_input_tokens")
		u.Cached += cached
		u.Prompt += cached + number("input_tokens") + number("cache_creation_input_tokens")
	}
	return u, nil
}
