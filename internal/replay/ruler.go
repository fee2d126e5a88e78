package replay

import (
	"sync"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer/codec"
)

// Ruler measures a text.
type Ruler func(text string) float64

// characters is the ruler of sessions that say how many of them make a token.
func characters(text string) float64 { return float64(utf8.RuneCountInString(text)) }

// Tokens counts tokens with a tokenizer of the kind that providers use (o200k_base, of OpenAI's models). It shares
// no code with the estimates that the masking decides by, so that a bill counted with it shows where those are wrong.
func Tokens(text string) float64 {
	n, err := o200k().Count(text)
	if err != nil { // the tokenizer gives up on no text that is known
		return characters(text) / defaultPerToken
	}
	return float64(n)
}

// o200k is made when it is first used: its vocabulary takes a moment and some memory.
var o200k = sync.OnceValue(codec.NewO200kBase)
