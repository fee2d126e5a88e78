package chat

import (
	"secateur/internal/prune"
	"secateur/internal/rawjson"
)

// Callers of /v1/compress send a conversation again and again, and keep nothing of what they got. So that a provider's cache holds, what
// becomes of a result is a function of the result, of the answer that called it, and of the results before it. Nothing behind it counts, nor
// do the user's messages: some callers hold them back, and send them later.

// Stateless lists the results that go out pruned where nothing is known of what was sent before.
func (c *Conversation) Stateless(s Pruning) (results []int) {
	for i := range c.Messages {
		m := &c.Messages[i]
		if !c.isResult(i) || m.Chars < s.MinChars || m.IsError && m.Chars < minCutError {
			continue
		}
		tool := c.relate().sinceName(i)
		if c.isRecovered(i, tool) || isSparedTool(tool) || c.isAskedAgain(i) || prune.HasMark(c.Text(i)) {
			continue
		}
		results = append(results, i)
	}
	return results
}

// isAskedAgain tells whether a result answers the same request as one before it.
func (c *Conversation) isAskedAgain(result int) bool {
	asked := c.askOf(result)
	near := 0
	for earlier := result - 1; earlier >= 0 && near < nearResults; earlier-- {
		if !c.isResult(earlier) {
			continue
		}
		near++
		if asked.isSame(c.askOf(earlier)) {
			return true
		}
	}
	return false
}

// AskedFor is why a result was asked for, of the answer alone that called for it.
func (c *Conversation) AskedFor(result int) Asked {
	id := c.Messages[result].CallID
	for i := result - 1; i >= 0; i-- {
		m := &c.Messages[i]
		if m.Role != Assistant {
			continue
		}
		if call := c.arguments(m, id); call != "" {
			said := ""
			for j := i; j >= 0 && c.Messages[j].Role == Assistant && said == ""; j-- { // formats have a text and its calls in one message or in several
				said = c.lastText(&c.Messages[j])
			}
			return Asked{Call: call, Goal: call + "\n" + said}
		}
	}
	return Asked{}
}

// IsMarked tells whether a message holds a marker of ours.
func (c *Conversation) IsMarked(message int) bool {
	return c.isResult(message) && prune.HasMark(c.Text(message))
}

// Row is the number of the message in the client's list that holds one of ours; one may hold several results.
func (c *Conversation) Row(message int) (row int) {
	for i := 1; i <= message; i++ {
		if c.Messages[i].at.start != c.Messages[i-1].at.start {
			row++
		}
	}
	return row
}

// WithTexts is the body with other texts in some of its messages.
func (c *Conversation) WithTexts(texts map[int]string) []byte {
	var edits []rawjson.Edit
	for i := range c.Messages {
		if text, ok := texts[i]; ok {
			at := c.Messages[i].content
			edits = append(edits, rawjson.Edit{Span: rawjson.Span{Start: c.list + at.start, End: c.list + at.end}, New: rawjson.AppendQuoted(nil, text)})
		}
	}
	return rawjson.Edited(c.Body, edits)
}
