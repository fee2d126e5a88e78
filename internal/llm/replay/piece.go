package replay

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"secateur/internal/llm/bill"
	"secateur/internal/llm/chat"
)

// piece is a stretch of a prompt that a cache can identify: a message of a chat completion, a block
// of the Messages format, or an item of Responses.
type piece struct {
	*rendered

	mark bool // the request asks the cache to store the prompt up to here
	hour bool // for an hour
	ends bool // a cache of endings can find the prompt up to here
}

// pieces splits a request's messages or items into pieces.
func (r *renderer) pieces(format chat.Format, list []jsontext.Value) []piece {
	prompt := make([]piece, 0, len(list))
	for _, raw := range list {
		switch format {
		case chat.Messages:
			prompt = r.blocks(prompt, raw)
		default:
			prompt = append(prompt, piece{rendered: r.render(format, raw)})
		}
	}
	markEndings(prompt)
	return prompt
}

// blocks appends the pieces of a message of the Messages format.
func (r *renderer) blocks(prompt []piece, raw jsontext.Value) []piece {
	var m struct {
		Role    string         `json:"role"`
		Content jsontext.Value `json:"content"`
	}
	var list []jsontext.Value
	if json.Unmarshal(raw, &m, lenient) != nil || m.Content.Kind() != '[' || json.Unmarshal(m.Content, &list, lenient) != nil {
		return append(prompt, piece{rendered: r.render(chat.Messages, raw)})
	}
	for _, b := range list {
		p := piece{rendered: r.renderBlock(m.Role, b)}
		if bytes.Contains(b, []byte(`"cache_control"`)) {
			p.mark, p.hour = markOf(b)
		}
		prompt = append(prompt, p)
	}
	return prompt
}

// markOf reads the cache mark of a block, a tool or a request.
func markOf(raw jsontext.Value) (mark, hour bool) {
	var b struct {
		CacheControl *struct {
			TTL string `json:"ttl"`
		} `json:"cache_control"`
	}
	if json.Unmarshal(raw, &b, lenient) != nil || b.CacheControl == nil {
		return false, false
	}
	return true, b.CacheControl.TTL == "1h"
}

// markEndings marks the ends of messages at which GPT-5.6 and later can find a prompt: a user
// message, the last of a run of results, the last of the first instructions.
func markEndings(prompt []piece) {
	instructions := true
	for i := range prompt {
		last := i+1 == len(prompt) || prompt[i+1].role != prompt[i].role
		switch prompt[i].role {
		case "user":
			prompt[i].ends, instructions = true, false
		case roleTool:
			prompt[i].ends, instructions = last, false
		case "developer", "system":
			prompt[i].ends = instructions && last
			instructions = instructions && !last
		default:
			instructions = false
		}
	}
}

// marks returns the places where a request asks a cache of markers to store it.
func marks(prompt []piece, head, tail cacheControl) (all []bill.Mark) {
	if head.mark {
		all = append(all, bill.Mark{Hour: head.hour})
	}
	for i, p := range prompt {
		if p.mark || tail.mark && i+1 == len(prompt) {
			all = append(all, bill.Mark{Pieces: i + 1, Hour: p.hour || !p.mark && tail.hour})
		}
	}
	return all
}

// cacheControl is a mark outside of the messages: on the tools or instructions, or on the request
// itself.
type cacheControl struct{ mark, hour bool }

// written returns the mark as JSON.
func (c cacheControl) written() string {
	if c.hour {
		return `{"type":"ephemeral","ttl":"1h"}`
	}
	return `{"type":"ephemeral"}`
}
