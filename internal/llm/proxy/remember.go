package proxy

import (
	"context"
	"errors"
	"slices"

	"secateur/internal/llm/chat"
)

// memory is what is written down before a request goes out.
type memory struct {
	frozen []write // bytes of what goes out pruned for the first time
	ofCut  []int   // of which message each of them is
	sent   []write // in which form it goes out
	err    error   // why that cannot be told
}

func (m memory) writes() []write { return append(slices.Clip(m.frozen), m.sent...) }

// memory lists what is to be written down of the plan. Nobody knows yet whether the originals of messages that are unsure can be kept.
func (x *exchange) memory(freezing map[int][]string, now int64, unsure []int) (m memory) {
	m.frozen, m.ofCut = x.freeze(freezing)
	m.sent, m.err = x.sent(now, unsure)
	return m
}

// remember writes down what is about to go out in another form than before: whatever happens to the request or to us,
// it goes out in that form from now on. What cannot be remembered is not cut. All of it is one round trip to a store that is one away.
func (x *exchange) remember(ctx context.Context, freezing map[int][]string, now int64) {
	m := x.memory(freezing, now, nil)
	x.remembered(ctx, m, x.p.writeEach(ctx, m.writes()), now)
}

// remembered takes back what could not be written down; errs are of the writes of m.
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
		if x.ahead.written { // as it goes out now
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

// freeze lists the bytes of what goes out pruned for the first time, and of which message each of them is.
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

// isRecorded tells whether it is written down before a request goes out in which form it does. With nothing that could go out in another, there is no need.
func (x *exchange) isRecorded() bool {
	return !x.replay && !x.byMessagesAlone() && !x.lane.talk
}

// soonMeasured is how many bytes are measured in less time than it takes to have it done beside the sending.
const soonMeasured = 32 << 10

// sent lists what is written down of a request before it goes out. Of one that goes out whole, as it always did, that is the form alone where it takes a
// while to know what it costs: what goes out does not hang on that, so it is made up while the request is sent.
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
	r := x.plan.Record(nil) // if we die before the answer, it has most likely cost what we expect
	x.ahead.expected = &r
	doubtful := withUnsure(r, unsure)
	record, err := x.lane.recordWrites(&doubtful)
	return append(writes, record...), err
}
