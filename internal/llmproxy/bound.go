package llmproxy

import (
	"bytes"
	"context"
	"io"
	"net/http"

	"secateur/internal/chat"
)

// boundElsewhere is what Anthropic says of thinking that was made of another conversation than the one it stands in.
var boundElsewhere = []byte("bound to a different conversation")

// goOn is what helps where the store that knew in which form a conversation was sent is lost.
const goOn = "begin a new session, or fork this one ('claude --resume ID --fork-session', 'codex fork')"

// readRefusal looks whether a provider refuses a conversation for what was changed in it. If so it is counted, and the
// conversation is left alone from then on. The answer passes as it came: clients know by its wording what to do.
func (x *exchange) readRefusal(ctx context.Context, res *http.Response) {
	if x.plan == nil || len(x.plan.Cuts) == 0 || res.StatusCode != http.StatusBadRequest || x.at.format == chat.Responses {
		return
	}
	head, err := io.ReadAll(io.LimitReader(res.Body, maxAhead))
	body := res.Body
	res.Body = &resumed{Reader: io.MultiReader(bytes.NewReader(head), &failed{err, body}), Closer: body}
	if isEncoded(res.Header) {
		head = unpack(head)
	}
	if !bytes.Contains(head, boundElsewhere) {
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
