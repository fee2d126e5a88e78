package history

import (
	"hash/fnv"
	"math"
	"slices"
	"time"
)

// Trial is a request of a conversation that is compared: some conversations pass untouched.
type Trial struct {
	Arm          string // "cut" or "held"
	Conversation string
	First        bool    // it begins the conversation
	Paid         float64 // dollars for prompt and output
}

// The arms of a trial.
const (
	armCut  = "cut"
	armHeld = "held"
)

// Holdout compares conversations that were cut with those that passed untouched. Intervals are of
// 95 %, by bootstrap over conversations.
type Holdout struct {
	Conversations int     `json:"conversations"` // cut, that began in this time
	Held          int     `json:"held_conversations"`
	RequestUSD    float64 `json:"request_usd"` // cost of a request: prompt and output
	HeldUSD       float64 `json:"held_request_usd"`
	// Requests of a conversation: cuts may cost more of them.
	Requests     float64 `json:"requests_per_conversation"`
	HeldRequests float64 `json:"held_requests_per_conversation"`
	// There are enough conversations for the intervals below.
	Enough   bool     `json:"enough"`
	SavedUSD Interval `json:"saved_usd_per_day"`
	More     Interval `json:"more_requests_per_conversation"`
}

// Interval is a range that holds the true value with 95 %.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// samples is the number of bootstrap samples.
const samples = 200

// leastHeld is the least number of conversations of an arm that an interval is computed from. With
// fewer, the bootstrap promises too much.
const leastHeld = 20

// sums are totals of an arm: the plain ones first, then one for each bootstrap sample. A
// conversation is in a sample as often as its hash says. So requests add up one by one, over hours,
// processes and machines, and no conversation has to be stored.
type sums struct {
	Paid          []float32 `json:"paid,omitempty"`
	Requests      []float32 `json:"requests,omitempty"`
	Conversations []float32 `json:"conversations,omitempty"`
}

// Trial adds a request of a compared conversation.
func (h *History) Trial(t Trial) {
	if h == nil {
		return
	}
	one := t.sums()
	h.update(func(now hour) {
		c := now.at(row{Arm: t.Arm})
		c.Trial = c.Trial.add(one)
	})
}

// sums returns the request as totals.
func (t Trial) sums() *sums {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(t.Conversation))
	of := hash.Sum64()
	s := &sums{make([]float32, samples+1), make([]float32, samples+1), make([]float32, samples+1)}
	for i := range s.Paid {
		times := float32(1)
		if i > 0 {
			times = timesIn(of, i)
		}
		s.Paid[i], s.Requests[i] = times*float32(t.Paid), times
		if t.First {
			s.Conversations[i] = times
		}
	}
	return s
}

// timesIn returns how often a conversation is in a bootstrap sample: by a Poisson distribution with
// mean 1, drawn from the hash.
func timesIn(conversation uint64, sample int) float32 {
	// SplitMix64
	z := conversation + uint64(sample)*0x9e3779b97f4a7c15 //nolint:gosec // a small number
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	u := float64((z^z>>31)>>11) / (1 << 53)
	n, p := 0, 1/math.E
	for sum := p; u >= sum && n < 12; sum += p {
		n++
		p /= float64(n)
	}
	return float32(n)
}

// add returns the totals of both. It changes neither: a file may be written at the same time.
func (s *sums) add(t *sums) *sums {
	switch {
	case t == nil:
		return s
	case s == nil:
		return t
	}
	return &sums{plus(s.Paid, t.Paid), plus(s.Requests, t.Requests), plus(s.Conversations, t.Conversations)}
}

// plus adds numbers to a copy. Files of other versions may have fewer.
func plus(a, b []float32) []float32 {
	out := make([]float32, max(len(a), len(b)))
	copy(out, a)
	for i, x := range b {
		out[i] += x
	}
	return out
}

// holdout compares the arms over a time; nil: there is nothing to compare.
func holdout(cut, held *sums, over time.Duration) *Holdout {
	if cut.requests() == 0 || held.requests() == 0 {
		return nil
	}
	out := &Holdout{
		Conversations: int(cut.Conversations[0]), Held: int(held.Conversations[0]),
		RequestUSD: ratio(cut.Paid, cut.Requests, 0), HeldUSD: ratio(held.Paid, held.Requests, 0),
		Requests: ratio(cut.Requests, cut.Conversations, 0), HeldRequests: ratio(held.Requests, held.Conversations, 0),
	}
	out.Enough = min(out.Conversations, out.Held) >= leastHeld
	if !out.Enough {
		return out
	}
	perDay := float64(cut.Requests[0]) / max(1, over.Hours()/24)
	out.SavedUSD = interval(cut, held, func(i int) float64 {
		return perDay * (ratio(held.Paid, held.Requests, i) - ratio(cut.Paid, cut.Requests, i))
	})
	out.More = interval(cut, held, func(i int) float64 {
		return ratio(cut.Requests, cut.Conversations, i) - ratio(held.Requests, held.Conversations, i)
	})
	return out
}

func (s *sums) requests() float64 {
	if s == nil || len(s.Requests) == 0 || len(s.Paid) == 0 || len(s.Conversations) == 0 {
		return 0
	}
	return float64(s.Requests[0])
}

// ratio divides the sums of a sample; 0 if there is nothing in it.
func ratio(a, b []float32, i int) float64 {
	if i >= len(a) || i >= len(b) || b[i] == 0 {
		return 0
	}
	return float64(a[i]) / float64(b[i])
}

// interval returns the middle 95 % of a value over the bootstrap samples in which both arms occur.
func interval(cut, held *sums, value func(sample int) float64) Interval {
	var all []float64
	for i := 1; i < min(len(cut.Requests), len(held.Requests)); i++ {
		if cut.Requests[i] > 0 && held.Requests[i] > 0 {
			all = append(all, value(i))
		}
	}
	if len(all) == 0 {
		return Interval{}
	}
	slices.Sort(all)
	const tail = 0.025
	return Interval{Low: quantile(all, tail), High: quantile(all, 1-tail)}
}

// quantile interpolates between sorted values.
func quantile(sorted []float64, share float64) float64 {
	at := share * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}
