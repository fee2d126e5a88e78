package cutting

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"secateur/internal/cut/mask"
	"secateur/internal/prune"
	"secateur/internal/prune/excerpt"
	"secateur/internal/rawjson"
)

// Goal says what a result was asked for.
type Goal = excerpt.Goal

// maxTime is how long a text may take to be pruned. One that takes longer passes whole.
const maxTime = time.Second

// shortener prunes the texts of one result for the goal of its call. Without a target it lets head and tail decide.
type shortener struct {
	target  int
	call    Call
	expired func() bool
	done    map[string]string // what became of the result's texts: a text may stand in it twice
}

func (c *Cutter) shortener(call Call) *shortener {
	until := time.Now().Add(maxTime)
	return &shortener{target: c.opt.Target, call: call, done: map[string]string{}, expired: func() bool { return time.Now().After(until) }}
}

// shorten prunes the text of a cut. It returns false if the text passes whole. A session that gets
// the same text again wanted the part that was cut.
func (s *shortener) shorten(text string, cut *mask.Cut) (string, bool) {
	if s.target == 0 {
		return "", true
	}
	if out, ok := s.done[text]; ok {
		return out, true
	}
	if s.call.Session.wasCut(text) {
		return "", false
	}
	req := excerpt.Request{
		Text: text, Goal: s.call.Goal, Target: cut.Room, ID: prune.CostlyID, Expired: s.expired, Structured: cut.JSON,
	}
	if cut.JSON {
		req.Schema = s.call.Schema
	}
	if s.call.RecoverTool != "" && !s.call.Session.isTold() {
		req.Note = s.call.note
	}
	return excerpt.Cut(req)
}

// made notes that a text goes out pruned.
func (s *shortener) made(text, out string) {
	s.done[text] = out
	s.call.Session.noteCut(text)
}

// Repeat has a value of the document go out as a text does that says the same as JSON and was pruned: many servers say all twice.
func (k *Kept) Repeat(at rawjson.Span) {
	value := at.Of(k.doc)
	for i := range k.made {
		sent := strings.TrimSpace(k.made[i].Sent)
		text := k.cuts[i].Text(k.doc)
		if k.cuts[i].Within(at) || !strings.HasPrefix(sent, "{") || !isSameJSON(value, text) {
			continue
		}
		kept := k.cuts[:0:0]
		made := k.made[:0:0]
		for j := range k.made {
			if !k.cuts[j].Within(at) {
				kept, made = append(kept, k.cuts[j]), append(made, k.made[j])
			}
		}
		k.made = made
		kept = append(kept, mask.Replace(at, k.made[0].Chars, []byte(sent)))
		k.cuts = kept
		mask.SortCuts(k.cuts)
		return
	}
}

// isSameJSON tells whether a text is a value written with other white space.
func isSameJSON(value []byte, text string) bool {
	if len(text) > 8*len(value) || len(value) > 8*len(text) {
		return false
	}
	var a, b bytes.Buffer
	return json.Compact(&a, value) == nil && json.Compact(&b, []byte(text)) == nil && bytes.Equal(a.Bytes(), b.Bytes())
}

// note is the sentence that the first marker of a session adds.
func (c Call) note(m prune.Mark) string {
	prefix := strings.TrimSuffix(c.RecoverTool, mask.RecoverTool)
	switch m.Unit {
	case prune.InLines:
		return "Left out to save context; to read these lines, call " + c.RecoverTool + " with prune_id and ranges."
	case prune.InChars:
		return "Left out to save context; to read it, call " + c.recoverChars() + " with prune_id, start and end."
	}
	return "Left out to save context; to find a part of it, call " + prefix + "search_text with prune_id and pattern, to read on, " + mask.RecoverCharsTool + " with start and end."
}

// About describes the cuts to who gets the document: what was cut, how much is left, and which part of the call was the goal.
func (k Kept) About() []byte {
	original, kept := 0, 0
	seen := map[string]bool{}
	var ids []string
	for _, m := range k.made {
		if !seen[m.ID] {
			seen[m.ID] = true
			ids = append(ids, m.ID)
		}
		if m.booked {
			original, kept = original+m.Chars, kept+m.Kept
		}
	}
	o := rawjson.Object{'{'}
	o.Texts("ids", ids)
	o.Int("original_chars", int64(original))
	o.Int("kept_chars", int64(kept))
	o.Text("goal", k.call.Goal.From())
	return append(o, '}')
}
