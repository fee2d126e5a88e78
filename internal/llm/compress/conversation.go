package compress

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"

	"secateur/internal/llm/chat"
	"secateur/internal/rawjson"
)

// maxDepth is how many containers a request may have within each other.
const maxDepth = chat.MaxDepth

// request is what a gateway asks for.
type request struct {
	messages []byte  // raw
	frozen   int     // first rows that stay as they came
	ratio    float64 // most of a text's lines that may go; 0: as configured
}

func readRequest(body []byte) (request, error) {
	body = rawjson.Trim(body)
	if err := rawjson.Check(body, maxDepth); err != nil {
		return request{}, fmt.Errorf("the body is no JSON: %w", err)
	}
	at := rawjson.FindAll(body, "messages", "config")
	r := request{messages: at[0].Of(body)}
	if len(r.messages) == 0 || r.messages[0] != '[' {
		return request{}, errors.New("messages: a list is needed")
	}
	config := at[1].Of(body)
	if raw := rawjson.Get(config, "frozen_message_count"); !rawjson.IsNothing(raw) {
		n, err := strconv.Atoi(string(raw))
		if err != nil || n < 0 {
			return request{}, errors.New("config.frozen_message_count: a number of messages is needed")
		}
		r.frozen = n
	}
	if raw := rawjson.Get(config, "target_ratio"); !rawjson.IsNothing(raw) {
		keep, err := strconv.ParseFloat(string(raw), 64)
		if err != nil || !(keep > 0 && keep <= 1) {
			return request{}, errors.New("config.target_ratio: a share above 0 and up to 1 is needed")
		}
		r.ratio = 1 - keep
	}
	return r, nil
}

// formatOf tells in which format messages are: by their blocks, or by their items.
func formatOf(messages []byte) (f chat.Format, list string) {
	for item := range rawjson.Items(messages) {
		at := rawjson.FindAll(item, "type", "content", "role")
		switch string(rawjson.Word(at[0].Of(item))) {
		case "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "reasoning", "local_shell_call", "local_shell_call_output":
			return chat.Responses, "input"
		}
		for block := range rawjson.Items(at[1].Of(item)) {
			switch rawjson.GetText(block, "type") {
			case "tool_use", "tool_result":
				return chat.Messages, "messages"
			case "input_text", "output_text":
				return chat.Responses, "input"
			}
		}
	}
	return chat.Completions, "messages"
}

// read reads the messages of a request as a conversation.
func (r request) read() (c *chat.Conversation, prefix int, err error) {
	f, list := formatOf(r.messages)
	head := `{"` + list + `":`
	body := append(append(make([]byte, 0, len(head)+len(r.messages)+1), head...), r.messages...)
	c, err = f.Read(append(body, '}'))
	return c, len(head), err
}

// cut is a result that may go out pruned.
type cut struct {
	message      int
	text, pruned string
	hash         string
}

// note is the sentence that the first marker of a conversation adds.
const note = "These lines were left out to save context; the whole text can be retrieved by its hash."

// pruner prunes a text whose original has this name.
type pruner func(text string, asked chat.Asked, by chat.Recovery, name string) (string, bool)

// plan prunes what can be pruned in a conversation. It is a function of its arguments; done says that there is no more time.
func plan(c *chat.Conversation, s chat.Pruning, frozen int, tenant string, id func(text string) string, prune pruner, done func() bool) (cuts []cut) {
	told := false
	last := 0
	tell := func(until int) { // a marker before it may have told already
		for ; last < until; last++ {
			told = told || c.IsMarked(last)
		}
	}
	for _, i := range c.Stateless(s) {
		if frozen > 0 && c.Row(i) < frozen {
			continue
		}
		if done() {
			return cuts
		}
		tell(i)
		text := c.Text(i)
		k := cut{message: i, text: text, hash: Hash(tenant, text)}
		var by chat.Recovery
		if !told {
			by.Note = note
		}
		var ok bool
		if k.pruned, ok = prune(text, c.AskedFor(i), by, id(text)+" hash="+k.hash); ok && len(k.pruned) < len(text) {
			cuts, told = append(cuts, k), true
		}
	}
	return cuts
}

// HashDigits is how many digits a hash has.
const HashDigits = 24

// Hash names a tenant's text to callers of this door.
func Hash(tenant, text string) string {
	h := sha256.New()
	var length [8]byte
	binary.BigEndian.PutUint64(length[:], uint64(len(tenant)))
	h.Write(length[:])
	h.Write([]byte(tenant))
	h.Write([]byte(text))
	return hex.EncodeToString(h.Sum(nil))[:HashDigits]
}

// isHash tells whether a word is written as Hash writes.
func isHash(word string) bool {
	return len(word) == HashDigits && len(bytes.Trim([]byte(word), "0123456789abcdef")) == 0
}
