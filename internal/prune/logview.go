package prune

// logView measures a log's rows among their neighbours.
type logView struct {
	t        *text
	slot     []uint32 // of each row: the slot of its message's hash
	times    []uint32 // per slot: frequency of its messages
	seen     []uint64 // slots seen so far
	often    []float32
	toExit   []uint16
	anyErr   float32
	lastErr  int
	err2     *spread
	err5     *spread
	err15    *spread
	red5     *spread
	often5   *spread
	x2, x5   float32 // of the current row
	x15, red float32
	near     float32
}

func (t *text) logView() *logView {
	n := t.rows()
	size := 1 << 10
	for size < 2*n && size < 1<<20 {
		size *= 2
	}
	l := &logView{t: t, slot: make([]uint32, n), times: make([]uint32, size), seen: make([]uint64, size/64)}
	errs, reds := make([]float32, n), make([]float32, n)
	for r := range n {
		l.slot[r] = uint32(t.template(r) >> 17 & (uint64(size) - 1)) //nolint:gosec // slots are few
		l.times[l.slot[r]]++
		switch k := t.kind[r]; {
		case k&isError != 0:
			errs[r] = 1
			l.anyErr++
			l.lastErr = r
		case k&isWeakError != 0:
			errs[r] = .4
		}
		reds[r] = flag(t.kind[r]&isRed != 0)
	}
	l.anyErr = fastLog(1 + l.anyErr)
	l.err2, l.err5, l.err15, l.red5 = newSpread(errs, 2), newSpread(errs, 5), newSpread(errs, 15), newSpread(reds, 5)
	scale := 1 / fastLog(float32(n)+1)
	l.often = make([]float32, n)
	l.toExit = make([]uint16, n)
	const never = 1000
	far := uint16(never)
	for r := n - 1; r >= 0; r-- {
		l.often[r] = fastLog(float32(l.times[l.slot[r]])) * scale
		if t.kind[r]&isExit != 0 {
			far = 0
		} else if far < never {
			far++
		}
		l.toExit[r] = far
	}
	l.often5 = newSpread(l.often, 5)
	return l
}

func (l *logView) advance() {
	l.x2, l.x5, l.x15, l.red, l.near = l.err2.next(), l.err5.next(), l.err15.next(), l.red5.next(), l.often5.next()
}

func (l *logView) fill(r int, v *vector) {
	k := l.t.kind[r]
	v[fError], v[fWeak], v[fTrace], v[fRed] = flag(k&isError != 0), flag(k&isWeakError != 0), flag(k&isTrace != 0), flag(k&isRed != 0)
	v[fCommand], v[fExit] = flag(k&isCommand != 0), flag(k&isExit != 0)
	v[fLevelLow], v[fLevelHigh] = flag(k&isLevelLow != 0), flag(k&isLevelHigh != 0)
	v[fErr2], v[fErr5], v[fErr15], v[fRed5] = l.x2, l.x5, l.x15, l.red
	v[fAnyErr], v[fLastErr] = l.anyErr, 300
	if l.anyErr > 0 {
		v[fLastErr] = float32(min(300, max(l.lastErr-r, r-l.lastErr)))
	}
	v[fToExit] = float32(min(300, l.toExit[r]))
	v[fTemplate], v[fTemplate5] = l.often[r], l.near
	slot := l.slot[r]
	v[fFirstSeen] = flag(l.seen[slot/64]&(1<<(slot%64)) == 0)
	l.seen[slot/64] |= 1 << (slot % 64)
	numbers := 0
	terms := l.t.termsOf(r)
	for _, id := range terms[:min(32, len(terms))] {
		if l.t.vocab.terms[id].number {
			numbers++
		}
	}
	v[fNumbers] = float32(numbers)
}
