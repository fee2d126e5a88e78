package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
)

// names counts the identifiers that answers use although the arguments that had them were cut.
type names struct {
	used map[string]bool // the value: it was nowhere in the request
}

var (
	identifier = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]{5,39}`)
	shaped     = regexp.MustCompile(`_|[0-9]|[a-z][A-Z]`)
	escapes    = regexp.MustCompile(`\\+[nrtbf"/]`)
)

func identifiers(raw []byte) map[string]bool {
	all := map[string]bool{}
	for _, word := range identifier.FindAllString(escapes.ReplaceAllString(string(raw), " "), -1) {
		if shaped.MatchString(word) {
			all[word] = true
		}
	}
	return all
}

// look compares a request as it came and as it was sent, before an answer.
func (n *names) look(came, sent []byte, answer json.RawMessage) {
	var whole, cut struct {
		Messages []json.RawMessage `json:"messages"`
	}
	if json.Unmarshal(came, &whole) != nil || json.Unmarshal(sent, &cut) != nil || len(whole.Messages) != len(cut.Messages) {
		return
	}
	gone := map[string]bool{}
	for i, raw := range whole.Messages {
		if !bytes.Equal(raw, cut.Messages[i]) && bytes.Contains(raw, []byte(`"assistant"`)) {
			for word := range identifiers(raw) {
				gone[word] = true
			}
		}
	}
	if len(gone) == 0 {
		return
	}
	if n.used == nil {
		n.used = map[string]bool{}
	}
	there := identifiers(sent)
	for word := range identifiers(answer) {
		if _, known := n.used[word]; gone[word] && !known {
			n.used[word] = !there[word]
		}
	}
}

// printNames prints the share of used names that were lost.
func printNames(w io.Writer, p prices, outcomes []outcome) {
	used, lost := 0, 0
	for _, o := range outcomes {
		for _, isLost := range o.names.used {
			used++
			lost += count(isLost)
		}
	}
	if used > 0 {
		fmt.Fprintf(w, "%s: of %d names in cut arguments that later answers use, %d were lost (%.1f %%)\n", p.model, used, lost, 100*float64(lost)/float64(used))
	}
}
