package proxy

import (
	"bytes"
	"context"

	"secateur/internal/llm/chat"
)

// A talk is a conversation without a tool result. Nothing of it can be cut, so only its cost is
// remembered: one value, under the key that all lanes share. It is written when the answer is there,
// or while the provider lets us wait for it. The value is the record's key, a zero byte and the
// record.

func isTalk(conv *chat.Conversation) bool {
	return conv.Thread == chat.NoThread && conv.Talk() == len(conv.Messages)
}

// talkWrites lists the writes of a talk.
func (l *lane) talkWrites(r *chat.Record) ([]write, error) {
	b, err := r.AppendBinary(append([]byte(l.record), 0))
	return []write{{key: l.last, value: b}}, err
}

// talkAt gives the record of a talk, of this lane or of another.
func (l *lane) talkAt(ctx context.Context, place chat.Place, wait bool) (own, sibling *chat.Record) {
	key, last := l.recordKey(place.Key), l.lastKey(place.Key)
	if wait {
		own = l.p.flights.find(ctx, key)
	}
	if own == nil {
		own = l.inMemory(key)
	}
	if own != nil {
		return own, nil
	}
	if r := l.inMemory(last); r != nil {
		return nil, r
	}
	b, ok := l.get(ctx, last)
	if !ok {
		return nil, nil
	}
	of, b, isWhole := bytes.Cut(b, []byte{0})
	if !isWhole { // of a thread, or of an earlier version: the record has a key of its own
		if own = l.recordOf(ctx, key, place); own == nil && string(of) != key {
			sibling = l.recordOf(ctx, string(of), place)
		}
		return own, sibling
	}
	r := decodeRecord(b, place)
	if string(of) == key {
		return r, nil
	}
	return nil, r
}

// touchLate returns the write of a talk's time, once, with its record. The record of a first request
// tells it by itself.
func (x *exchange) touchLate(now int64) []write {
	if !x.lane.talk || x.byMessagesAlone() || x.ahead.written || !x.past.IsSeen() {
		return nil
	}
	return x.lane.touch(x.past, now)
}
