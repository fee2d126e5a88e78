package proxy

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"

	"secateur/internal/llm/chat"
	"secateur/internal/rawjson"
)

// boundElsewhere is Anthropic's refusal of thinking that was made in another conversation than the one it stands in.
var boundElsewhere = []byte("bound to a different conversation")

// goOn is the way out where the record of how a conversation was sent is lost.
const goOn = "start a new session, or fork this one ('claude --resume ID --fork-session', 'codex fork')"

// lostRecord is added to a refusal of reasoning in a conversation without a record. Claude Code recognizes the refusal by the words before it.
const lostRecord = " secateur has no record of how it sent this conversation: " + goOn + "."

// readRefusal looks whether a provider refuses a conversation for what was changed in it. If so it is counted, and the
// conversation is left alone from then on. The answer passes as it came: clients know by its wording what to do.
// Only where no record of the conversation is left, one sentence in its message says how to go on.
func (x *exchange) readRefusal(ctx context.Context, res *http.Response) {
	hasCuts := x.plan != nil && len(x.plan.Cuts) > 0 && x.at.format != chat.Responses
	if res.StatusCode != http.StatusBadRequest || !hasCuts && !x.forgotten {
		return
	}
	head, err := io.ReadAll(io.LimitReader(res.Body, maxAhead))
	body := res.Body
	res.Body = &resumed{Reader: io.MultiReader(bytes.NewReader(head), &failed{err, body}), Closer: body}
	isWhole := err == nil && len(head) < maxAhead
	if isEncoded(res.Header) {
		head = unpack(head)
	}
	if x.forgotten && isWhole && refusesReasoning(head) {
		x.p.opt.Log.WarnContext(ctx, "a provider refuses the reasoning in a conversation that there is no record of", "provider", x.to.provider.name, "hint", goOn)
		advise(res, head)
	}
	if !hasCuts || !bytes.Contains(head, boundElsewhere) {
		return
	}
	x.p.metrics.bound.WithLabelValues(x.to.provider.name).Inc()
	x.p.opt.Log.WarnContext(ctx, "a provider takes a conversation for another one; nothing more is cut in it", "provider", x.to.provider.name, "cuts", len(x.plan.Cuts), "hint", goOn)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	if err := x.lane.leave(ctx); err != nil {
		x.p.notRemembered(ctx, "its record", err)
	}
}

// isForgotten tells whether a conversation with results has no record of an answered request. A refused request leaves a record too, and its bill is
// empty.
func isForgotten(conv *chat.Conversation, past *chat.Past) bool {
	isAnswered := func(r *chat.Record) bool { return r != nil && r.Bill.Spent > 0 }
	return conv.Talk() < len(conv.Messages) && !isAnswered(past.Record) && !isAnswered(past.Sibling)
}

// refusesReasoning tells whether an error is about signed or encrypted reasoning that is not valid where it stands.
func refusesReasoning(doc []byte) bool {
	for _, words := range [][]byte{boundElsewhere, []byte("not created in this conversation"), []byte("Invalid `signature` in `thinking` block"), []byte("invalid_encrypted_content")} {
		if bytes.Contains(doc, words) {
			return true
		}
	}
	return bytes.Contains(doc, []byte("encrypted content")) && bytes.Contains(doc, []byte("could not be verified"))
}

// advise adds a sentence to the message of an error, which has the same place in all formats. Any other document passes as it came.
func advise(res *http.Response, doc []byte) {
	if rawjson.Check(doc, maxErrorDepth) != nil {
		return
	}
	failure := rawjson.Find(doc, "error")
	message := rawjson.Find(failure.Of(doc), "message").Within(failure)
	if text := message.Of(doc); len(text) < 2 || text[0] != '"' {
		return
	}
	end := message.End - 1 // before the closing quote
	out := rawjson.Apply(nil, doc, []rawjson.Edit{{Span: rawjson.Span{Start: end, End: end}, New: rawjson.AppendEscaped(nil, lostRecord)}})
	res.Body = &resumed{Reader: bytes.NewReader(out), Closer: res.Body}
	res.Header.Del("Content-Encoding") // it was unpacked
	if res.ContentLength >= 0 {
		res.ContentLength = int64(len(out))
		res.Header.Set("Content-Length", strconv.Itoa(len(out)))
	}
}

// maxErrorDepth bounds the nesting of an error that is changed.
const maxErrorDepth = 64
