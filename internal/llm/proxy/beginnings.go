package proxy

import (
	"bytes"
	"slices"
	"sort"
	"sync"

	"secateur/internal/llm/chat"
)

// beginnings remember the last conversations as they were read. An agent sends all that was said with every request,
// and a little more: what a request begins with like one before it is compared, not read, which takes a small part
// of the time.
type beginnings struct {
	mu    sync.Mutex   // guards the fields below
	all   []*beginning // the latest last
	bytes int          // that all of them hold
}

// beginning is a list of messages that was read.
type beginning struct {
	format chat.Format
	body   *buffer // held for the list
	list   []byte  // from its bracket to the end of its last message
	known  chat.Known
	middle [probeLength]byte // of the list: most conversations that begin alike are different there
}

const (
	probeLength   = 64
	minBeginning  = 16 << 10 // shorter lists are soon read
	maxBeginnings = 64
	maxRemembered = 16 << 20 // bytes of all of them
	maxAlike      = 4        // that are compared with a request
)

// find gives the messages with which a list begins, and the beginning that the list goes on from. Marks for the cache move
// from request to request, so that one goes on from another that it has all but the end of.
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
			enough = same == len(one.list) || isMost(same, list) // nothing is likely to have more
		}
		one.body.release()
	}
	return known, from
}

// isMost tells whether all but the end of a list is within so many bytes.
func isMost(bytes int, list []byte) bool { return bytes >= len(list)-len(list)/16 }

// alike gives the beginnings that may be a list's, the latest first. Their bodies are the caller's to release.
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

// note remembers a conversation, in the place of one that it goes on from.
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

// drop forgets a beginning; the lock is held.
func (b *beginnings) drop(i int) {
	b.bytes -= b.all[i].size()
	b.all[i].body.release()
	b.all = slices.Delete(b.all, i, i+1)
}

// size is how much memory it holds. Messages that it shares with another count for both.
func (one *beginning) size() int { return cap(one.body.bytes) + one.known.Bytes() }

func (one *beginning) middleAt() int { return (len(one.list) - probeLength) / 2 }

// commonLength is how many bytes two texts begin with in common.
func commonLength(a, b []byte) (same int) {
	for step := 4 << 10; step > 0; step /= 16 {
		for end := same + step; end <= min(len(a), len(b)) && bytes.Equal(a[same:end], b[same:end]); end += step {
			same = end
		}
	}
	return same
}
