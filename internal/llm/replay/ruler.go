package replay

import (
	"unicode/utf8"

	"secateur/internal/llm/bpe"
)

// Ruler measures a text.
type Ruler func(text string) float64

// characters is the ruler for sessions that record their characters per token.
func characters(text string) float64 { return float64(utf8.RuneCountInString(text)) }

// Tokens counts the tokens of a text exactly, with OpenAI's o200k_base.
func Tokens(text string) float64 { return float64(bpe.Count(text)) }
