package bill

// Learned is what the answers to all conversations have taught about a model of a provider.
type Learned struct {
	Warm    float64 // seconds; the longest pause after which a prompt was found in the cache
	Cold    float64 // seconds; the shortest pause after which one was gone, above Warm; 0: none was seen
	Weights Weights // of its tokenizer; zero: unknown
}

// minPause is the pause, in seconds, from which on a cache teaches something about its life:
// within less a miss has other reasons.
const minPause = 60

// Pause takes in whether a prompt was found in the cache after a pause of so many seconds.
func (l Learned) Pause(seconds float64, found bool) Learned {
	switch {
	case seconds < minPause:
	case found:
		l.Warm = max(l.Warm, seconds)
		if l.Cold <= l.Warm {
			l.Cold = 0
		}
	case seconds > l.Warm && (l.Cold == 0 || seconds < l.Cold):
		l.Cold = seconds
	}
	return l
}

// Coldness is how sure it is that a cache has forgotten a prompt.
type Coldness uint8

// How sure it is.
const (
	MayBeWarm  Coldness = iota
	LikelyCold          // for longer than caches of this kind live, as we were told
	KnownCold           // and as we have seen
)

// After says how cold the cache is that was not used for so many seconds.
func (l Learned) After(seconds float64, c Cache) Coldness {
	life := c.Life
	if life <= 0 {
		life = unknownLife
	}
	if seconds <= max(life, l.Warm)*(1+slackShare)+slack {
		return MayBeWarm
	}
	if l.Cold > 0 && seconds >= l.Cold {
		return KnownCold
	}
	return LikelyCold
}

// Clocks differ, and times are not written down with every request.
const (
	slack      = 45 // seconds
	slackShare = 0.1
)
