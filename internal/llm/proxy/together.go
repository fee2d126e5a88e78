package proxy

import (
	"context"
	"slices"

	"secateur/internal/llm/chat"
)

// togetherChars limits the text that goes to the store together with the records. Beyond it the
// originals are stored first.
const togetherChars = 4 << 20

// canGoTogether reports whether originals, a claim and records can be stored in one round trip.
func (x *exchange) canGoTogether(due []chat.Cut) bool {
	if x.p.opt.Together == nil || len(due) == 0 && x.plan.Claim == 0 {
		return false
	}
	chars := 0
	for _, cut := range due {
		n, _ := x.plan.Taken(cut)
		chars += n
	}
	return len(due) <= maxUnkept && chars <= togetherChars
}

// keepTogether stores originals and records in one round trip. The record thus says that a result
// was cut before we know that its original was stored. If the store accepts the original, as it
// nearly always does, nothing more is needed. If it refuses one, or another branch has made the
// claim, a second round trip records what is sent instead. Only then is the request sent: no
// request differs from its record.
//
// If we crash between the two round trips, nothing was sent, but the record names a cut without an
// original. A reader of that record, such as a retry at another replica, must not take the cut for
// sent: results sent cut stay cut, with or without an original. So cuts whose originals go in the
// same round trip are recorded as unsure. The record after the response replaces this one. An
// unsure cut is made only if its original is stored, like a new one. If it was sent, its original
// was stored, and the same bytes are sent again. If the store refuses the original, the result is
// sent whole. That is wrong only if three things coincide. We crashed between a successful round
// trip and the response, the original was lost since, and the store is full now. It costs a miss of
// the provider's cache, but never an unrecoverable text.
//
// Two replicas with the same request at the same time agree: both cut if the store has the
// original, whichever wrote the record last.
//
// A round trip without a response leaves the state of the engine open. It counts as refused. A late
// response is waited for (see originals.Together), so that it does not overtake the second round
// trip.
func (x *exchange) keepTogether(ctx context.Context, due []chat.Cut, freezing map[int][]string, now int64) {
	if x.plan.Claim > 0 && x.lane.claimed == maxClaims {
		x.plan.Unclaimed()
		due = x.p.renewed.due(x.plan.Cuts, x.p.opt.OriginalsTTL)
	}
	m := x.memory(freezing, now, undecided(due))
	writes := m.writes()
	claims := x.plan.Claim > 0
	if claims {
		writes = append(writes, x.lane.claimWrite(x.lane.claimed, x.plan.Claim))
	}
	unkept, unwritten := x.writeTogether(ctx, due, writes)
	lost := x.unkept(ctx, due, unkept)
	last := len(m.frozen) + len(m.sent)
	isTaken := claims && unwritten[last] != nil
	if len(lost) == 0 && !isTaken {
		x.remembered(ctx, m, unwritten[:last], now)
		return
	}
	thawed := m.thawed(lost)
	if isTaken {
		x.plan.Unclaimed()
	}
	for _, message := range lost {
		x.plan.Keep(message) // fail open: do not cut what cannot be stored
	}
	x.ahead.expected = nil
	m = x.memory(freezing, now, nil)
	m.sent = append(m.sent, thawed...)
	x.remembered(ctx, m, x.p.writeEach(ctx, m.writes()), now)
}

// writeTogether stores the originals of cuts and the values, and returns an error for each.
func (x *exchange) writeTogether(ctx context.Context, cuts []chat.Cut, writes []write) (unkept, unwritten []error) {
	texts := make([]string, len(cuts))
	spread(len(cuts), len(cuts), func(i int) { texts[i] = x.plan.Original(cuts[i]) })
	ids, unkept, unwritten := x.p.opt.Together(ctx, x.tenant, texts, len(writes), func(i int) (string, []byte, bool) { return writes[i].key, writes[i].value, writes[i].onlyNew })
	for i, err := range unkept {
		if err == nil {
			unkept[i] = isOf(cuts[i], ids[i])
		}
	}
	return unkept, unwrittenOf(writes, unwritten)
}

// undecided lists the messages of cuts that are made only if their originals are stored.
func undecided(cuts []chat.Cut) (messages []int) {
	for _, cut := range cuts {
		if cut.New || cut.Unsure {
			messages = append(messages, cut.Message)
		}
	}
	return messages
}

// thawed returns the writes that undo frozen bytes of messages: an empty value means not pruned.
func (m memory) thawed(messages []int) (writes []write) {
	for i, message := range m.ofCut {
		if i > 0 && slices.Contains(messages, message) { // the first belongs to no message
			writes = append(writes, write{key: m.frozen[i].key, safe: true})
		}
	}
	return writes
}

// withUnsure returns a record in which the cuts of these messages are unsure.
func withUnsure(r chat.Record, messages []int) chat.Record {
	if len(messages) == 0 {
		return r
	}
	r.Cuts = slices.Clone(r.Cuts)
	for i := range r.Cuts {
		r.Cuts[i].Unsure = slices.Contains(messages, r.Cuts[i].Message)
	}
	return r
}
