package rawjson

// Where the processor can, long strings are skimmed: looked at in blocks, which takes
// a fraction of the time that words do, but more than a few words for a short string.
const (
	blockLength   = 64
	tryWords      = 3 * wordLength  // from the first word to the last that is tried first
	worthSkimming = 2 * blockLength // that a document must still have
	maxSkim       = 256 << 10       // at a time: nothing can interrupt it
)

// skimOn moves from p, where a character of a string starts, to one that ends the
// string or needs a closer look, or to where less than a block is left. It returns by
// how many the bytes outnumber the characters. At least three bytes must stand before
// p.
func skimOn(b []byte, p int) (next, extra int) {
	for {
		var more int
		var unsure bool
		next, more, unsure = skim(b[:min(len(b), p+maxSkim)], p)
		extra += more
		if unsure && next > p && b[next-1] >= 0x80 {
			// The last character may not be whole, or not be one: back to its start.
			for next--; next > p && b[next]>>6 == 0x80>>6; next-- {
				extra--
			}
		}
		if next >= len(b) || !plain[b[next]] || len(b)-next < blockLength {
			return next, extra
		}
		p = next
	}
}
