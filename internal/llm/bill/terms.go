package bill

import "slices"

// Format is the shape of a request. It can decide how the same model is cached.
type Format uint8

// The formats.
const (
	Chat      Format = iota // OpenAI's chat completions and compatible APIs
	Messages                // Anthropic's
	Responses               // OpenAI's
)

// Terms say how a provider bills a prompt.
type Terms struct {
	Rates
	Cache
	Band
}

// Band is the size above which every token of a prompt costs more. The zero value means no band.
type Band struct {
	Above float64 // tokens
	Times float64 // factor on all prices
}

func (b Band) times(tokens float64) float64 {
	if b.Above > 0 && b.Times > 0 && tokens > b.Above {
		return b.Times
	}
	return 1
}

// In returns what decisions need of the prices, for requests of a format to a model.
func (p Prices) In(f Format, model string) Terms {
	t := p.Terms()
	t.Kind = p.kind(f, model)
	if t.Known() && t.Kind == Markers && t.Hour == t.Write && p.CacheWriteHour == nil {
		t.Hour = max(t.Write, hourWrite)
	}
	return t
}

// hourWrite is the price of writing for an hour over that of input, if the prices do not say.
const hourWrite = 2

// kind returns the configured kind, else the known kind of the model, else the usual one of the
// format. Outside of the Messages format we cannot know a request's marks when it reaches Claude: a
// router may set others.
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

// With returns the terms for a request with these marks. If the cache needs marks, a request
// without any is not cached. The marks also decide how long an entry lives. The methods of
// [Account] call With themselves.
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
	if t.Hour > t.Write { // entries live only as long as the request asks
		t.Life = markLife
		if slices.ContainsFunc(marks, func(m Mark) bool { return m.Hour }) {
			t.Life = hourLife
		}
	}
	return t
}

// Cost returns the cost of a prompt of which only the counts are known. A prompt too short for the
// cache is not written to it.
func (t Terms) Cost(p Prompt) float64 {
	if p.Total < t.minimum() && p.Cached == 0 {
		p.Plain, p.Hour = p.Total, 0
	}
	return t.cost(p)
}

func (t Terms) cost(p Prompt) float64 { return t.Rates.Cost(p) * t.times(p.Total) }

// rate returns what a token of the piece pays if the first found pieces come from the cache.
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

// marked returns the number of pieces before the last mark.
func marked(marks []Mark) (pieces int) {
	for _, m := range marks {
		pieces = max(pieces, m.Pieces)
	}
	return pieces
}

// hourMarked returns the number of pieces to be stored for an hour.
func hourMarked(marks []Mark) (pieces int) {
	for _, m := range marks {
		if m.Hour {
			pieces = max(pieces, m.Pieces)
		}
	}
	return pieces
}
