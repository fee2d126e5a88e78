package llmproxy

import (
	"context"
	"errors"

	"secateur/internal/chat"
)

// remember writes down what is about to go out in another form than before: whatever happens to the request or to us,
// it goes out in that form from now on. What cannot be remembered is not cut. All of it is one round trip to a store that is one away.
func (x *exchange) remember(ctx context.Context, freezing map[int][]string, now int64) {
	frozen, ofCut := x.freeze(freezing)
	sent, err := x.sent(now)
	errs := x.p.writeEach(ctx, append(frozen, sent...))
	unfrozen := errors.Join(errs[:len(frozen)]...)
	if err == nil {
		err = errors.Join(errs[len(frozen):]...)
	}
	x.ahead.written = err == nil && x.isRecorded()
	if unfrozen != nil {
		for i, message := range ofCut {
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
	return !x.replay && !x.byMessagesAlone() && (!x.plan.Untouched() || x.plan.HasResults())
}

// soonMeasured is how many bytes are measured in less time than it takes to have it done beside the sending.
const soonMeasured = 32 << 10

// sent lists what is written down of a request before it goes out. Of one that goes out whole, as it always did, that is the form alone where it takes a
// while to know what it costs: what goes out does not hang on that, so it is made up while the request is sent.
func (x *exchange) sent(now int64) ([]write, error) {
	if x.replay || x.byMessagesAlone() {
		return nil, nil
	}
	writes := x.lane.touch(x.past, now)
	if !x.isRecorded() {
		return writes, nil
	}
	if x.plan.Untouched() && x.plan.Unmeasured() > soonMeasured {
		r := x.plan.Uncounted()
		record, err := x.lane.recordWrites(&r)
		return append(writes, record...), err
	}
	r := x.plan.Record(nil) // if we die before the answer, it has most likely cost what we expect
	x.ahead.expected = &r
	record, err := x.lane.recordWrites(&r)
	return append(writes, record...), err
}
