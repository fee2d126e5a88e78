package bill

// grown is what has come to a prompt since it was counted last; it is not ok where anything else has changed.
func (a Account) grown(req Request) (size Size, ok bool) {
	known := a.Last.Pieces
	if known == 0 || known > req.Same || known >= len(req.Pieces) {
		return Size{}, false
	}
	return sizeOf(req.Pieces[known:]), true
}

// sizeOf adds up in variables of its own, which stay in registers: a prompt is summed up several times with each request.
func sizeOf(pieces []Piece) Size {
	var tokens, digits, signs, others, bytes, pairs float64
	for i := range pieces {
		s := &pieces[i].Size
		tokens, digits, signs, others, bytes, pairs = tokens+s.Tokens, digits+s.Digits, signs+s.Signs, others+s.Others, bytes+s.Bytes, pairs+s.Pairs
	}
	return Size{Tokens: tokens, Digits: digits, Signs: signs, Others: others, Bytes: bytes, Pairs: pairs, Pieces: float64(len(pieces))}
}

// size is how many tokens the provider is expected to count.
func (a Account) size(req Request) float64 { return a.position(req, len(req.Pieces)) }

// position is how many tokens are expected before a piece, as the prompt goes out. What was
// counted last is taken for exact, as long as it goes out again.
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

// regained is by how many tokens the pieces that were counted last are longer now: fewer than
// nothing where more is taken out of them.
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

// Size is how many tokens the provider is expected to count.
func (a Account) Size(req Request) float64 { return a.size(req) }
