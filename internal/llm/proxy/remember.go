package proxy

import (
	"context"
	"errors"
	"slices"

	"secateur/internal/llm/chat"
)

// memory is what is recorded before a request is sent.
type memory struct {
	frozen []write // bytes of results sent pruned for the first time
	ofCut  []int   // message of each of them
	sent   []write // the form in which the request is sent
	err    error   // why that form cannot be encoded
}

func (m memory) writes() []write { return append(slices.Clip(m.frozen), m.sent...) }

// memory lists the writes for the plan. unsure lists messages whose originals may not have been
// stored.
func (x *exchange) memory(freezing map[int][]string, now int64, unsure []int) (m memory) {
	m.frozen, m.ofCut = x.freeze(freezing)
	m.sent, m.err = x.sent(now, unsure)
	return m
}

// remember records what is about to be sent in a new form: from now on it is always sent in that
// form, even after a crash. Results that cannot be recorded are not cut. It takes one round trip to
// a remote store.
func (x *exchange) remember(ctx context.Context, freezing map[int][]string, now int64) {
	m := x.memory(freezing, now, nil)
	x.remembered(ctx, m, x.p.writeEach(ctx, m.writes()), now)
}

// remembered undoes the cuts that could not be recorded; errs belong to the writes of m.
func (x *exchange) remembered(ctx context.Context, m memory, errs []error, now int64) {
	unfrozen, err := errors.Join(errs[:len(m.frozen)]...), m.err
	if err == nil {
		err = errors.Join(errs[len(m.frozen):]...)
	}
	x.ahead.written = err == nil && x.isRecorded()
	if unfrozen != nil {
		for i, message := range m.ofCut {
			if errs[i] != nil || errs[0] != nil { // the first says that some are cut
				x.plan.Keep(message)
			}
		}
		if x.ahead.written { // as it is sent now
			err = x.expect(ctx)
		}
	}
	if err != nil {
		x.plan.KeepNewMasks()
		x.ahead.expected = nil
	}
	if err = errors.Join(unfrozen, err); err != nil {
		x.p.sentUnwritten(ctx, now)
		x.p.notRemembered(ctx, "what is sent, so nothing more is cut", err)
	}
}

// freeze lists the bytes of results sent pruned for the first time, and their messages.
func (x *exchange) freeze(freezing map[int][]string) (writes []write, ofCut []int) {
	for _, cut := range x.plan.Cuts {
		keys := freezing[cut.Message]
		if keys == nil || cut.Kind != chat.Pruned {
			continue
		}
		if len(writes) == 0 {
			writes, ofCut = append(writes, write{key: x.lane.cutKey(), value: []byte(someCut), onlyNew: true, safe: true}), append(ofCut, cut.Message)
		}
		for _, key := range keys {
			writes, ofCut = append(writes, write{key: key, value: []byte(cut.Text), safe: true}), append(ofCut, cut.Message)
		}
	}
	return writes, ofCut
}

// isRecorded reports whether the form of a request is recorded before it is sent. Requests that can
// only be sent in one form need no record.
func (x *exchange) isRecorded() bool {
	return !x.replay && !x.byMessagesAlone() && !x.lane.talk
}

// soonMeasured is how many bytes can be measured faster than in the background.
const soonMeasured = 32 << 10

// sent lists the writes for a request before it is sent. For an unchanged request that takes long
// to measure, it is the form alone. The sent bytes do not depend on the cost, so that is computed
// during the request.
func (x *exchange) sent(now int64, unsure []int) ([]write, error) {
	if !x.isRecorded() {
		return nil, nil
	}
	writes := x.lane.touch(x.past, now)
	if x.plan.Untouched() && x.plan.Unmeasured() > soonMeasured {
		r := x.plan.Uncounted()
		record, err := x.lane.recordWrites(&r)
		return append(writes, record...), err
	}
	r := x.plan.Record(nil) // if we crash before the response, this is the most likely cost
	x.ahead.expected = &r
	doubtful := withUnsure(r, unsure)
	record, err := x.lane.recordWrites(&doubtful)
	return append(writes, record...), err
}
