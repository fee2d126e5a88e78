package proxy

import (
	"context"
	"slices"

	"secateur/internal/llm/chat"
)

// togetherChars is how much text goes to the store with what is written down of a request. Of more the originals go first, by themselves.
const togetherChars = 4 << 20

// canGoTogether tells whether originals, a claim and what is written down go to the store at once.
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

// keepTogether keeps originals and writes down what goes out in one round trip. So it is written down that a result was cut before it is known that its
// original was kept. Where the store takes the original, as it nearly always does, that was the whole of it. Where it refuses one, or another branch has
// claimed what a cut was to cost, a second trip writes down what goes out instead, before it does: no request is sent, and no bytes go out, of
// which the record says something else.
//
// If we die between the two trips, nothing was sent, and a record stands that names a cut without an original. Who finds it (the client asks again, perhaps
// another replica) must not take the cut for sent: what was sent cut goes on to be cut, original or not. So cuts whose originals go in the same trip are
// written down as unsure, until the answer's record takes that one's place. An unsure cut is made where its original is kept, as for a new one: if it
// had been sent, so was its original kept, and the same bytes go out again; if the store refuses the original, it goes out whole. That is wrong only where
// we died between a trip that went well and the answer, and the original was lost since, and the store is full now: a miss of the provider's cache, and
// never a text that nobody can recover.
//
// Two replicas that are asked the same at once come to the same: both make the cut if the store has the original, whoever wrote the record last.
//
// A trip that is not answered leaves it open what the engine has done. It counts as refused; that it is answered late is waited for (see
// originals.Together), so that it does not overtake the second.
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
		x.plan.Keep(message) // content fails open: what cannot be kept is not cut
	}
	x.ahead.expected = nil
	m = x.memory(freezing, now, nil)
	m.sent = append(m.sent, thawed...)
	x.remembered(ctx, m, x.p.writeEach(ctx, m.writes()), now)
}

// writeTogether keeps the originals of cuts and values, and tells of each why it was not kept.
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

// undecided lists the messages of cuts that are only made if their originals are kept.
func undecided(cuts []chat.Cut) (messages []int) {
	for _, cut := range cuts {
		if cut.New || cut.Unsure {
			messages = append(messages, cut.Message)
		}
	}
	return messages
}

// thawed are the writes that take back bytes that were frozen for messages: nothing was pruned to none.
func (m memory) thawed(messages []int) (writes []write) {
	for i, message := range m.ofCut {
		if i > 0 && slices.Contains(messages, message) { // the first is no message's own
			writes = append(writes, write{key: m.frozen[i].key, safe: true})
		}
	}
	return writes
}

// withUnsure is a record in which the cuts of these messages are unsure.
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
