package cutting

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"time"
)

// What a session remembers at most.
const (
	maxCalls     = 20
	maxCallBytes = 8 << 10
	maxCutTexts  = 1024
)

// Session is what was asked for and cut before in one client's session. The zero value is a new one; nil remembers nothing. Its methods
// may be used by many goroutines.
type Session struct {
	mu    sync.Mutex
	calls []string // guarded by mu; the arguments of the last calls, the oldest first
	size  int      // guarded by mu; bytes of calls
	cut   []uint64 // guarded by mu; hashes of the texts that went out pruned, the oldest first
	told  bool     // guarded by mu; a marker has said how to get more
}

// seed makes hashes that no server can foresee.
var seed = maphash.MakeSeed()

// Begin notes the arguments of a call and returns those of the calls before it, the newest first.
func (s *Session) Begin(arguments string) (before []string) {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	before = slices.Clone(s.calls)
	slices.Reverse(before)
	const half = maxCallBytes / 2
	if len(arguments) > half {
		arguments = strings.ToValidUTF8(arguments[:half], "")
	}
	if strings.TrimSpace(arguments) == "" {
		return before
	}
	s.calls, s.size = append(s.calls, strings.Clone(arguments)), s.size+len(arguments)
	for len(s.calls) > maxCalls || s.size > maxCallBytes {
		s.size -= len(s.calls[0])
		s.calls = slices.Delete(s.calls, 0, 1)
	}
	return before
}

func (s *Session) wasCut(text string) bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.cut, maphash.String(seed, text))
}

func (s *Session) noteCut(text string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.told = true; len(s.cut) == maxCutTexts {
		s.cut = slices.Delete(s.cut, 0, 1)
	}
	s.cut = append(s.cut, maphash.String(seed, text))
}

func (s *Session) isTold() bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.told
}

// Sessions are those of clients that have no connection, by who they are. The zero value has none.
type Sessions struct {
	mu  sync.Mutex
	all map[string]*kept // guarded by mu
}

type kept struct {
	session Session
	used    time.Time
}

// What is remembered of clients without a connection.
const (
	maxSessions = 256
	maxIdle     = 30 * time.Minute
)

// Of is the session of a client. A client that nothing is known of, with the key "", has none.
func (s *Sessions) Of(key string, now time.Time) *Session {
	if key == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string]*kept{}
	}
	k := s.all[key]
	if k == nil || now.Sub(k.used) > maxIdle {
		if k == nil && len(s.all) >= maxSessions {
			s.forget(now)
		}
		k = &kept{}
		s.all[key] = k
	}
	k.used = now
	return &k.session
}

// forget makes room: the idle go, or else the one that was not used for longest.
func (s *Sessions) forget(now time.Time) {
	oldest := ""
	for key, k := range s.all {
		if now.Sub(k.used) > maxIdle {
			delete(s.all, key)
		} else if oldest == "" || k.used.Before(s.all[oldest].used) {
			oldest = key
		}
	}
	if len(s.all) >= maxSessions {
		delete(s.all, oldest)
	}
}
