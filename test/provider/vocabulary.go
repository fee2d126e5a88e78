package provider

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/dlclark/regexp2/v2"
)

// Vocabulary reads a published tokenizer (tokenizer.json of Hugging Face's tokenizers): a
// byte-level byte pair encoding of the pieces that some patterns split a text into. Everything else
// in such a file is refused, except for a normalizer, which is ignored.
func Vocabulary(file string) (Tokenizer, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var f struct {
		Splits split `json:"pre_tokenizer"`
		Model  struct {
			Type   string            `json:"type"`
			Vocab  map[string]uint64 `json:"vocab"`
			Merges []merge           `json:"merges"`
		} `json:"model"`
	}
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	v := &vocabulary{ids: f.Model.Vocab, ranks: map[merge]int{}, known: map[string][]uint64{}}
	if f.Model.Type != "BPE" {
		return nil, fmt.Errorf("%s: a model of type %q; only BPE can be read", file, f.Model.Type)
	}
	for i, m := range f.Model.Merges {
		v.ranks[m] = i
	}
	if v.patterns, err = f.Splits.patterns(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return v.split, nil
}

// merge is two symbols that become one; a file has them as a string or as a list.
type merge [2]string

func (m *merge) UnmarshalJSON(raw []byte) error {
	if raw[0] == '[' {
		return json.Unmarshal(raw, (*[2]string)(m))
	}
	var both string
	err := json.Unmarshal(raw, &both)
	m[0], m[1], _ = strings.Cut(both, " ")
	return err
}

// split says how a text is split before pairs are merged.
type split struct {
	Type     string  `json:"type"`
	Parts    []split `json:"pretokenizers"`
	UseRegex *bool   `json:"use_regex"`
	Behavior string  `json:"behavior"`
	Pattern  struct {
		Regex string `json:"Regex"`
	} `json:"pattern"`
}

// words is the default pattern for byte-level splitting.
const words = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

func (s split) patterns() (all []*regexp2.Regexp, err error) {
	pattern := s.Pattern.Regex
	switch {
	case s.Type == "Sequence":
		for _, p := range s.Parts {
			more, err := p.patterns()
			if err != nil {
				return nil, err
			}
			all = append(all, more...)
		}
		return all, nil
	case s.Type == "ByteLevel" && s.UseRegex != nil && !*s.UseRegex:
		return nil, nil
	case s.Type == "ByteLevel":
		pattern = words
	case s.Type != "Split" || s.Behavior != "Isolated" || pattern == "":
		return nil, fmt.Errorf("texts are split by %q (%s), which cannot be read", s.Type, cmp.Or(s.Behavior, "no behavior"))
	}
	re, err := regexp2.Compile(pattern)
	return []*regexp2.Regexp{re}, err
}

// vocabulary is a byte pair encoding.
type vocabulary struct {
	ids      map[string]uint64
	ranks    map[merge]int
	patterns []*regexp2.Regexp

	mu    sync.Mutex          // guards the field below
	known map[string][]uint64 // of pieces seen before
}

func (v *vocabulary) split(text string, yield func(uint64)) {
	pieces := []string{text}
	for _, p := range v.patterns {
		var finer []string
		for _, piece := range pieces {
			finer = append(finer, isolate(p, piece)...)
		}
		pieces = finer
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, piece := range pieces {
		ids, ok := v.known[piece]
		if !ok {
			ids = v.merged(piece)
			v.known[piece] = ids
		}
		for _, id := range ids {
			yield(id)
		}
	}
}

// isolate splits a text into the matches of a pattern and the text between them.
func isolate(p *regexp2.Regexp, text string) (pieces []string) {
	matches, err := p.FindAllStringIndex(text, -1)
	if err != nil {
		panic(err) // matching has no timeout
	}
	at := 0
	add := func(to int) {
		if to > at {
			pieces = append(pieces, text[at:to])
			at = to
		}
	}
	for _, m := range matches {
		add(m[0])
		add(m[1])
	}
	add(len(text))
	return pieces
}

// merged merges the pair with the lowest rank as long as one exists.
func (v *vocabulary) merged(piece string) (ids []uint64) {
	symbols := make([]string, len(piece))
	for i := range symbols {
		symbols[i] = shown[piece[i]]
	}
	for {
		best, at := len(v.ranks), -1
		for i := range len(symbols) - 1 {
			if rank, ok := v.ranks[merge{symbols[i], symbols[i+1]}]; ok && rank < best {
				best, at = rank, i
			}
		}
		if at < 0 {
			break
		}
		symbols[at] += symbols[at+1]
		symbols = slices.Delete(symbols, at+1, at+2)
	}
	for _, s := range symbols {
		ids = append(ids, v.ids[s])
	}
	return ids
}

// shown are the characters for bytes in such files: visible ones for themselves, the others from
// U+0100 on.
var shown = func() (all [256]string) {
	next := rune(256)
	for b := range rune(256) {
		if b > ' ' && b < 0x7f || b > 0xa0 && b != 0xad {
			all[b] = string(b)
		} else {
			all[b] = string(next)
			next++
		}
	}
	return all
}()
