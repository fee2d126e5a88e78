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

// boundElsewhere is Anthropic's refusal of thinking from another conversation.
var boundElsewhere = []byte("bound to a different conversation")

// goOn is the advice if the record of a conversation is lost.
const goOn = "start a new session, or fork this one ('claude --resume ID --fork-session', 'codex fork')"

// lostRecord is added to a refusal of reasoning in a conversation without a record. Claude Code
// recognizes the refusal by the words before it.
const lostRecord = " secateur has no record of how it sent this conversation: " + goOn + "."

// readRefusal detects that a provider refuses a conversation because of our changes. It counts the
// refusal, and the conversation is not changed from then on. The response passes unchanged, because
// clients react to its wording. Only if the conversation has no record, a sentence in the message
// says how to continue.
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

// isForgotten reports whether a conversation with results has no record of an answered request. A
// refused request leaves a record with an empty bill.
func isForgotten(conv *chat.Conversation, past *chat.Past) bool {
	isAnswered := func(r *chat.Record) bool { return r != nil && r.Bill.Spent > 0 }
	return conv.Talk() < len(conv.Messages) && !isAnswered(past.Record) && !isAnswered(past.Sibling)
}

// refusesReasoning reports whether an error is about signed or encrypted reasoning that is invalid
// in its place.
func refusesReasoning(doc []byte) bool {
	for _, words := range [][]byte{boundElsewhere, []byte("not created in this conversation"), []byte("Invalid `signature` in `thinking` block"), []byte("invalid_encrypted_content")} {
		if bytes.Contains(doc, words) {
			return true
		}
	}
	return bytes.Contains(doc, []byte("encrypted content")) && bytes.Contains(doc, []byte("could not be verified"))
}

// advise appends a sentence to the message of an error, which has the same place in all formats.
// Any other document passes unchanged.
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

// maxErrorDepth limits the nesting of an error that we change.
const maxErrorDepth = 64
