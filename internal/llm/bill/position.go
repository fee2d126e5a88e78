package bill

// grown returns the size of the pieces added since the last count. ok is false if anything else has
// changed.
func (a Account) grown(req Request) (size Size, ok bool) {
	known := a.Last.Pieces
	if known == 0 || known > req.Same || known >= len(req.Pieces) {
		return Size{}, false
	}
	return sizeOf(req.Pieces[known:]), true
}

// sizeOf sums in local variables, which stay in registers. Each request sums a prompt several
// times.
func sizeOf(pieces []Piece) Size {
	var tokens, digits, signs, others, bytes, pairs float64
	for i := range pieces {
		s := &pieces[i].Size
		tokens, digits, signs, others, bytes, pairs = tokens+s.Tokens, digits+s.Digits, signs+s.Signs, others+s.Others, bytes+s.Bytes, pairs+s.Pairs
	}
	return Size{Tokens: tokens, Digits: digits, Signs: signs, Others: others, Bytes: bytes, Pairs: pairs, Pieces: float64(len(pieces))}
}

// size returns how many tokens the provider is expected to count.
func (a Account) size(req Request) float64 { return a.position(req, len(req.Pieces)) }

// position returns how many tokens are expected before a piece, as the prompt is sent. The last
// count is taken as exact while its pieces are sent again.
func (a Account) position(req Request, piece int) float64 {
	weights := a.Scale.Weights()
	scaled := func(pieces []Piece) float64 { return weights.Count(sizeOf(pieces)) }
	head := weights.Count(req.Head)
	switch known := a.Last.Pieces; {
	case known == 0 || known > len(req.Pieces):
		return head + scaled(req.Pieces[:piece])
	case piece >= known:
		return a.Last.Input + a.regained(req, known) + scaled(req.Pieces[known:piece])
	default:
		before, behind := head+scaled(req.Pieces[:piece]), scaled(req.Pieces[piece:known])
		if before+behind <= 0 {
			return 0
		}
		return max(0, a.Last.Input+a.regained(req, known)) * before / (before + behind)
	}
}

// regained returns how many tokens longer the last counted pieces are now. It is negative if more
// was removed from them.
func (a Account) regained(req Request, known int) float64 {
	if req.Same >= known {
		return 0
	}
	return a.Scale.Count(a.Last.Removed) - a.Scale.Count(removed(req.Pieces[:known]))
}

func removed(pieces []Piece) Size {
	var tokens, digits, signs, others, bytes, pairs float64
	for i := range pieces {
		s := &pieces[i].Removed
		tokens, digits, signs, others, bytes, pairs = tokens+s.Tokens, digits+s.Digits, signs+s.Signs, others+s.Others, bytes+s.Bytes, pairs+s.Pairs
	}
	return Size{Tokens: tokens, Digits: digits, Signs: signs, Others: others, Bytes: bytes, Pairs: pairs}
}

// Size returns how many tokens the provider is expected to count.
func (a Account) Size(req Request) float64 { return a.size(req) }
