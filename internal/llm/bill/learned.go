package bill

// Learned holds what the responses of all conversations have shown about one model of a provider.
type Learned struct {
	Warm float64 // seconds; longest pause after which a prompt was still cached
	// seconds; shortest pause above Warm after which a prompt was gone; 0: none seen
	Cold    float64
	Weights Weights // of its tokenizer; zero: unknown
}

// minPause is the shortest pause, in seconds, that says something about a cache's lifetime. After
// shorter pauses a miss has other reasons.
const minPause = 60

// Pause records whether a prompt was found in the cache after a pause of that many seconds.
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

// Coldness says how sure we are that a cache has forgotten a prompt.
type Coldness uint8

// The degrees of coldness.
const (
	MayBeWarm  Coldness = iota
	LikelyCold          // unused for longer than the documented lifetime of such caches
	KnownCold           // and for longer than the observed lifetime
)

// After returns how cold a cache is that was not used for that many seconds.
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

// slack and slackShare allow for clock differences, and for times that not every request records.
const (
	slack      = 45 // seconds
	slackShare = 0.1
)
