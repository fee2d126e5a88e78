package proxy

import (
	"bytes"
	"slices"
	"sort"
	"sync"

	"secateur/internal/llm/chat"
)

// beginnings remembers the last conversations as they were parsed. An agent sends the whole
// conversation with every request, plus a little more. The part equal to an earlier request is
// compared instead of parsed, which takes a fraction of the time.
type beginnings struct {
	mu    sync.Mutex   // guards the fields below
	all   []*beginning // latest last
	bytes int          // held by all of them
}

// beginning is a parsed list of messages.
type beginning struct {
	format chat.Format
	body   *buffer // held for the list
	list   []byte  // from its bracket to the end of its last message
	known  chat.Known
	middle [probeLength]byte // of the list: conversations with the same start mostly differ there
}

const (
	probeLength   = 64
	minBeginning  = 16 << 10 // shorter lists are parsed quickly
	maxBeginnings = 64
	maxRemembered = 16 << 20 // bytes of all of them
	maxAlike      = 4        // compared with a request
)

// find returns the parsed messages at the start of a list, and the beginning that the list
// continues. Cache marks move from request to request, so a list continues another if all but its
// end is equal.
func (b *beginnings) find(format chat.Format, list []byte) (known chat.Known, from *beginning) {
	enough := false
	for _, one := range b.alike(format, list) {
		if !enough {
			same := commonLength(one.list, list)
			all := one.known.Messages
			if n := sort.Search(len(all), func(i int) bool { return all[i].End() > same }); n > len(known.Messages) {
				known = one.known.First(n)
			}
			if isMost(same, one.list) {
				from = one
			}
			enough = same == len(one.list) || isMost(same, list) // no other is likely to match more
		}
		one.body.release()
	}
	return known, from
}

// isMost reports whether that many bytes cover all but the end of a list.
func isMost(bytes int, list []byte) bool { return bytes >= len(list)-len(list)/16 }

// alike returns the beginnings that may match a list, latest first. The caller must release their
// bodies.
func (b *beginnings) alike(format chat.Format, list []byte) (alike []*beginning) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, one := range slices.Backward(b.all) {
		middle := one.middleAt()
		if one.format != format || len(list) < middle+probeLength || [probeLength]byte(list[middle:]) != one.middle {
			continue
		}
		one.body.hold()
		if alike = append(alike, one); len(alike) == maxAlike {
			break
		}
	}
	return alike
}

// note remembers a conversation and replaces the one that it continues.
func (b *beginnings) note(body *buffer, conv *chat.Conversation, from *beginning) {
	if len(conv.Messages) == 0 || cap(body.bytes) > maxPooled {
		return
	}
	one := &beginning{format: conv.Format, body: body, known: conv.Known()}
	one.list = conv.List()[:conv.Messages[len(conv.Messages)-1].End()]
	if len(one.list) < minBeginning {
		return
	}
	one.middle = [probeLength]byte(one.list[one.middleAt():])
	body.hold()
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := slices.Index(b.all, from); i >= 0 {
		b.drop(i)
	}
	b.all, b.bytes = append(b.all, one), b.bytes+one.size()
	for len(b.all) > maxBeginnings || b.bytes > maxRemembered {
		b.drop(0)
	}
}

// drop removes a beginning. The caller holds the lock.
func (b *beginnings) drop(i int) {
	b.bytes -= b.all[i].size()
	b.all[i].body.release()
	b.all = slices.Delete(b.all, i, i+1)
}

// size returns how much memory it holds. Shared messages count for each.
func (one *beginning) size() int { return cap(one.body.bytes) + one.known.Bytes() }

func (one *beginning) middleAt() int { return (len(one.list) - probeLength) / 2 }

// commonLength returns the length of the common prefix.
func commonLength(a, b []byte) (same int) {
	for step := 4 << 10; step > 0; step /= 16 {
		for end := same + step; end <= min(len(a), len(b)) && bytes.Equal(a[same:end], b[same:end]); end += step {
			same = end
		}
	}
	return same
}
