package llm

import (
	"slices"
	"testing"
)

const bound = "The block is bound to a different conversation."

// Checks the changes that keep thinking valid, and those that make it invalid, according to the
// documentation.
func TestThinkingIsBoundToWhatWasSentBefore(t *testing.T) {
	drop := func(k *talk, i int) { k.messages[i]["content"] = k.messages[i]["content"].([]any)[2:] }
	for name, c := range map[string]struct {
		edit func(k *talk)
		want string // "": accepted
	}{
		"nothing":                        {func(*talk) {}, ""},
		"a marker":                       {func(k *talk) { k.marks = []int{0, 2, 4} }, ""},
		"max_tokens":                     {func(k *talk) { k.extra = map[string]any{"max_tokens": 7} }, ""},
		"thinking taken from the start":  {func(k *talk) { drop(k, 1) }, ""},
		"all thinking taken":             {func(k *talk) { drop(k, 1); drop(k, 3); drop(k, 5) }, ""},
		"an earlier result":              {func(k *talk) { k.block(2, 0)["content"] = "cut" }, "messages.3.content.0: Invalid `signature` in `thinking` block. " + bound},
		"the newest result":              {func(k *talk) { k.block(6, 0)["content"] = "cut" }, ""},
		"the first message":              {func(k *talk) { k.block(0, 0)["text"] = "went" }, "messages.1.content.0: Invalid `signature` in `thinking` block. " + bound},
		"the system prompt":              {func(k *talk) { k.extra = map[string]any{"system": "other"} }, bound},
		"the tools":                      {func(k *talk) { k.extra = map[string]any{"tools": []any{}} }, bound},
		"thinking taken from the middle": {func(k *talk) { drop(k, 3) }, bound},
		"a signature":                    {func(k *talk) { k.block(3, 0)["signature"] = "cut" }, "Invalid `signature` in `thinking` block"},
		"the order of the newest":        {func(k *talk) { slices.Reverse(k.messages[5]["content"].([]any)[:2]) }, bound},
	} {
		t.Run(name, func(t *testing.T) {
			k := newTalk(t, "claude-opus-5-5")
			for range 3 {
				k.turn("a result")
			}
			c.edit(k)
			if c.want == "" {
				k.accepted()
			} else {
				k.refused(c.want)
			}
		})
	}
}

func TestOlderModelsDoNotBind(t *testing.T) {
	k := newTalk(t, "claude-sonnet-4-5")
	for range 3 {
		k.turn("a result")
	}
	k.block(2, 0)["content"] = "cut"
	k.accepted()
	slices.Reverse(k.messages[5]["content"].([]any)[:2])
	k.refused("cannot be modified")
}

// On request, invalid blocks are dropped, and the answer lists them.
func TestBlocksAreDroppedOnDemand(t *testing.T) {
	k := newTalk(t, "claude-opus-5-5")
	k.turn("a result")
	k.turn("a result")
	k.block(2, 0)["content"] = "cut"
	k.extra = map[string]any{"thinking": map[string]any{"type": "adaptive", "block_binding": map[string]string{"prefix_mismatch_behavior": "drop_block"}}}
	if answer := k.accepted(); answer["input_transformations"] == nil {
		t.Errorf("nothing told of dropped blocks: %v", answer)
	}
}

// Refusals of Messages other than thinking.
func TestMessagesRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(k *talk)
		want string
	}{
		"a fifth marker": {func(k *talk) { k.marks = []int{0, 1, 2, 3, 4} }, "A maximum of 4 blocks with cache_control may be provided. Found 5."},
		"1h after 5m": {func(k *talk) {
			k.ttl = "1h"
			k.extra = map[string]any{"system": []any{map[string]any{"type": "text", "text": "x", "cache_control": map[string]string{"type": "ephemeral"}}}}
		}, "ttl='1h' cache_control block must not come after"},
		"a result of no call":   {func(k *talk) { k.block(2, 0)["tool_use_id"] = "toolu_x" }, "unexpected `tool_use_id`"},
		"a call without result": {func(k *talk) { k.messages = k.messages[:2] }, "without `tool_result` blocks immediately after"},
		"a text before a result": {func(k *talk) {
			k.messages[2]["content"] = []any{text("so"), k.block(2, 0)}
		}, "must come first"},
		"a field without its beta": {func(k *talk) { k.extra = map[string]any{"context_management": map[string]any{}} }, "context_management: Extra inputs are not permitted"},
		"a reference to no tool": {func(k *talk) {
			k.block(2, 0)["content"] = []any{map[string]any{"type": "tool_reference", "tool_name": "write"}}
		}, "Tool reference 'write' not found"},
	} {
		t.Run(name, func(t *testing.T) {
			k := newTalk(t, "claude-sonnet-4-5")
			k.turn("a result")
			k.turn("a result")
			c.edit(k)
			k.refused(c.want)
		})
	}
}

// Credentials are not accepted in the wrong header.
func TestCredentials(t *testing.T) {
	for name, c := range map[string]struct {
		header map[string]string
		want   int
	}{
		"none":                  {nil, 401},
		"a key":                 {map[string]string{"X-Api-Key": "sk-ant-api"}, 200},
		"a bearer":              {map[string]string{"Authorization": "Bearer sk-x"}, 200},
		"a login":               {map[string]string{"Authorization": "Bearer sk-ant-oat01", "Anthropic-Beta": "a,oauth-2025-04-20"}, 200},
		"a login, beta lost":    {map[string]string{"Authorization": "Bearer sk-ant-oat01"}, 401},
		"a login as key":        {map[string]string{"X-Api-Key": "sk-ant-oat01", "Anthropic-Beta": "oauth-2025-04-20"}, 401},
		"a key beside a bearer": {map[string]string{"X-Api-Key": "sk-ant-api", "Authorization": "Bearer sk-x"}, 401},
	} {
		t.Run(name, func(t *testing.T) {
			k := newTalk(t, "claude-opus-5")
			k.header.Del("X-Api-Key")
			for name, v := range c.header {
				k.header.Set(name, v)
			}
			if status, answer := k.post(); status != c.want {
				t.Errorf("answered %d: %v, want %d", status, answer, c.want)
			}
		})
	}
}
