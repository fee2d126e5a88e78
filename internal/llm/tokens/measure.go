package tokens

// Measure holds an estimate of the tokens, and the counts in which tokenizers differ.
type Measure struct {
	Tokens int // the result of Estimate
	Digits int
	Signs  int // characters other than letters, digits and spaces
	Others int // bytes of non-ASCII characters
	Bytes  int
}

// Size measures a text in a single pass.
func Size(text string, kind Kind) Measure { return plainSteps[kind.known()]().measure(text) }

// SizeQuoted measures the text of a JSON string from its raw bytes in a document, or from some of
// them. Its quotes count as signs. The result is that of Size for the decoded text, except that a
// numeric escape (\u00e9) counts as one byte.
func SizeQuoted(raw string, kind Kind) Measure { return quotedSteps[kind.known()]().measure(raw) }
