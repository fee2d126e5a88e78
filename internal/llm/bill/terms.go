package bill

import "slices"

// Format is the shape of a request. The same model may be cached in one way in the one and in another in the other.
type Format uint8

// The formats.
const (
	Chat      Format = iota // OpenAI's chat completions, and all that speak it
	Messages                // Anthropic's
	Responses               // OpenAI's
)

// Terms are how a provider bills a prompt.
type Terms struct {
	Rates
	Cache
	Band
}

// Band is the size from which on every token of a prompt costs more. The zero value means
// that there is none.
type Band struct {
	Above float64 // tokens
	Times float64 // what the prices are multiplied with
}

func (b Band) times(tokens float64) float64 {
	if b.Above > 0 && b.Times > 0 && tokens > b.Above {
		return b.Times
	}
	return 1
}

// In gives what decisions need of the prices, for requests of a format to a model.
func (p Prices) In(f Format, model string) Terms {
	t := p.Terms()
	t.Kind = p.kind(f, model)
	if t.Known() && t.Kind == Markers && t.Hour == t.Write && p.CacheWriteHour == nil {
		t.Hour = max(t.Write, hourWrite)
	}
	return t
}

// hourWrite is what writing for an hour costs over input, where the prices do not say.
const hourWrite = 2

// kind is what the prices say, else what is known of a model of this name, else what is usual in the format. Outside
// of the Messages format nobody knows whether a request reaches Claude with marks of its own: a router may set others.
func (p Prices) kind(f Format, model string) Kind {
	name := p.Cache
	if name == "" {
		known, ok := Lookup(model)
		switch {
		case ok:
			name = known.Cache
		case f == Messages:
			return Markers
		}
	}
	for k, s := range kindNames {
		if s == name && (Kind(k) != Markers || f == Messages) {
			return Kind(k)
		}
	}
	return Blocks
}

// With gives the terms of a request with these marks. One without any is not cached at all where the cache needs
// them, and how long it is kept hangs on what they ask for. What an [Account] is given goes through it by itself.
func (t Terms) With(marks []Mark) Terms {
	if t.Kind != Markers {
		return t
	}
	if len(marks) == 0 {
		if t.Known() {
			t.Rates = Rates{Read: 1, Write: 1, Hour: 1}
		}
		return t
	}
	if t.Hour > t.Write { // what is not asked for is not given
		t.Life = markLife
		if slices.ContainsFunc(marks, func(m Mark) bool { return m.Hour }) {
			t.Life = hourLife
		}
	}
	return t
}

// Cost is what a prompt costs of which nothing else is known. One too short for the cache is not written to it.
func (t Terms) Cost(p Prompt) float64 {
	if p.Total < t.minimum() && p.Cached == 0 {
		p.Plain, p.Hour = p.Total, 0
	}
	return t.cost(p)
}

func (t Terms) cost(p Prompt) float64 { return t.Rates.Cost(p) * t.times(p.Total) }

// rate is what a token of a piece pays, when so many pieces are found in the cache.
func (t Terms) rate(req Request, piece, found int) float64 {
	switch {
	case piece < found:
		return t.Read
	case t.Kind != Markers:
		return t.Write
	case piece < hourMarked(req.Marks):
		return t.Hour
	case piece < marked(req.Marks):
		return t.Write
	}
	return 1
}

// marked is how many pieces stand before the last mark.
func marked(marks []Mark) (pieces int) {
	for _, m := range marks {
		pieces = max(pieces, m.Pieces)
	}
	return pieces
}

// hourMarked is how many pieces are to be kept for an hour.
func hourMarked(marks []Mark) (pieces int) {
	for _, m := range marks {
		if m.Hour {
			pieces = max(pieces, m.Pieces)
		}
	}
	return pieces
}
