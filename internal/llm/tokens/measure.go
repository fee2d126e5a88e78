package tokens

// Measure is what tokenizers make different things of, beside how many tokens there are for one of them.
type Measure struct {
	Tokens int // as Estimate has it
	Digits int
	Signs  int // characters that are no letters, digits or spaces
	Others int // bytes of what is not ASCII
	Bytes  int
}

// Size measures a text, in the one pass that an estimate takes.
func Size(text string, kind Kind) Measure { return plainSteps[kind.known()]().measure(text) }

// SizeQuoted measures what a JSON string says of which these are the bytes as they stand in a document, or some of them; its quotes count as
// signs. It is what Size has for the text, without decoding it, but for what stands there by its number (\u00e9): that counts as one byte.
func SizeQuoted(raw string, kind Kind) Measure { return quotedSteps[kind.known()]().measure(raw) }
