package proxy

import (
	"context"
	"hash/maphash"
	"sync"

	"secateur/internal/llm/bill"
	"secateur/internal/llm/chat"
	"secateur/internal/rawjson"
)

// A provider can say why its cache missed, if the client asks it to compare a request with an
// earlier response (Anthropic's diagnostics, OpenAI's prompt_cache_diagnostics). A change in the
// messages may be the client's or ours. It is ours if the client's own messages continue those of
// the earlier request. A rewrite that the plan has priced is in the account already. Any other miss
// that we caused is a fault: an error in the log, and a loss in the account.

// answers remember the requests of the latest responses by the response's id.
type answers struct {
	mu   sync.Mutex // guards the fields below
	of   map[uint64]answeredAs
	ring []uint64
	next int // index of the oldest id, once ring is full
}

// answeredAs is the request of a response.
type answeredAs struct {
	tenant   string
	messages int
	key      chat.Key // of the client's messages
	cut      bool     // it was not sent as it came
}

// maxAnswers is how many responses are remembered.
const maxAnswers = 1 << 12

var answerSeed = maphash.MakeSeed()

func (a *answers) note(id string, as answeredAs) {
	hash := maphash.String(answerSeed, id)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.of == nil {
		a.of = map[uint64]answeredAs{}
	}
	if _, known := a.of[hash]; !known {
		if len(a.ring) < maxAnswers {
			a.ring = append(a.ring, hash)
		} else {
			delete(a.of, a.ring[a.next])
			a.ring[a.next] = hash
			a.next = (a.next + 1) % maxAnswers
		}
	}
	a.of[hash] = as
}

func (a *answers) find(id string) (as answeredAs, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	as, ok = a.of[maphash.String(answerSeed, id)]
	return as, ok
}

// noteAnswer remembers the request of a response.
func (x *exchange) noteAnswer(usage *bill.Usage) {
	if usage == nil || usage.ID == "" || x.plan == nil || x.conv.Thread == chat.ThreadContinue {
		return
	}
	x.p.answers.note(usage.ID, answeredAs{x.tenant, len(x.conv.Messages), x.conv.Key(), len(x.plan.Cuts) > 0})
}

// blame leaves a reported miss in the usage only if it is our fault.
func (x *exchange) blame(usage *bill.Usage) {
	if usage != nil && usage.Missed > 0 && (x.plan == nil || x.plan.Rewrites() || !x.changedMessages()) {
		usage.Missed = 0
	}
}

// changedMessages reports whether the client's messages continue those of the response that it
// compares with, and were not sent like that.
func (x *exchange) changedMessages() bool {
	was, known := x.p.answers.find(comparedID(x.at.format, x.body.bytes))
	if !known || was.tenant != x.tenant || !was.cut && len(x.plan.Cuts) == 0 {
		return false
	}
	for _, place := range x.conv.Places() {
		if place.Messages <= was.messages {
			return place.Messages == was.messages && place.Key == was.key
		}
	}
	return false
}

// comparedID returns the id of the response that a request is to be compared with; "": none.
func comparedID(format chat.Format, body []byte) string {
	within, name := "diagnostics", "previous_message_id"
	if format == chat.Responses {
		within, name = "prompt_cache_options", "comparison_response_id"
	}
	at := rawjson.Find(body, within)
	object := at.Of(body)
	id := rawjson.Find(object, name)
	if raw := id.Of(object); rawjson.IsString(raw) {
		return rawjson.Unquote(raw)
	}
	return ""
}

// tellMiss logs a miss that is our fault.
func (x *exchange) tellMiss(ctx context.Context, usage *bill.Usage) {
	if usage != nil && usage.Missed > 0 {
		x.p.opt.Log.ErrorContext(ctx, "the provider's cache missed because a conversation was not sent as before; please report it",
			"provider", x.to.provider.name, "format", x.at.format.String(), "tokens", usage.Missed, "cuts", len(x.plan.Cuts), "new", x.plan.New())
	}
}
