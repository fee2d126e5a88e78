package compress

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"sync"

	"secateur/internal/llm/chat"
)

// memo remembers what texts were pruned to: a gateway sends a conversation again with every turn. The zero value is ready.
type memo struct {
	mu    sync.Mutex // guards the fields below
	texts map[memoKey]pruned
	bytes int
}

type memoKey [sha256.Size]byte

// pruned is a text that was pruned; not ok: it passes whole.
type pruned struct {
	text string
	ok   bool
}

// maxMemo is how many bytes are remembered. Beyond them it begins again.
const maxMemo = 32 << 20

// pruner prunes texts that were not pruned before.
func (m *memo) pruner(s chat.Pruning, done func() bool) pruner {
	return func(text string, asked chat.Asked, by chat.Recovery, name string) (string, bool) {
		key := keyOf(s, asked, by, name)
		m.mu.Lock()
		known, ok := m.texts[key]
		m.mu.Unlock()
		if ok {
			return known.text, known.ok
		}
		var p pruned
		p.text, p.ok = s.Prune(text, asked, by, name, done)
		if !p.ok {
			p.text = ""
		}
		if !done() {
			m.add(key, p)
		}
		return p.text, p.ok
	}
}

func (m *memo) add(key memoKey, p pruned) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.texts == nil || m.bytes > maxMemo {
		m.texts, m.bytes = map[memoKey]pruned{}, 0
	}
	m.texts[key] = p
	m.bytes += len(p.text) + 2*len(key)
}

// keyOf names all that a pruned text depends on: the name of the original has its text's hash in it.
func keyOf(s chat.Pruning, asked chat.Asked, by chat.Recovery, name string) (key memoKey) {
	h := sha256.New()
	for _, part := range []string{name, asked.Goal, asked.Call, by.Note} {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		h.Write(length[:])
		h.Write([]byte(part))
	}
	var ratio [8]byte
	binary.BigEndian.PutUint64(ratio[:], math.Float64bits(s.MaxPruneRatio))
	h.Write(ratio[:])
	h.Sum(key[:0])
	return key
}
