package chat

import "secateur/internal/llm/bill"

// The account's view of a conversation: pieces, marks, and the terms for the format and the model.
// A piece is a message, except that some messages take several cache places.

var billFormats = [...]bill.Format{Completions: bill.Chat, Messages: bill.Messages, Responses: bill.Responses}

// terms returns how a request is billed.
func (c *Conversation) terms(prices bill.Prices, model string) bill.Terms {
	t := prices.In(billFormats[c.Format], model)
	if c.marked && c.Format == Responses {
		t.Kind = bill.Markers
	}
	return t
}

// firstPieces returns the first piece of each message, and the total number.
func (c *Conversation) firstPieces() []int {
	first := make([]int, len(c.Messages)+1)
	for i := range c.Messages {
		first[i+1] = first[i] + 1 + int(c.Messages[i].places)
	}
	return first
}

// marksFor returns the marks of a request, if the cache uses them.
func (c *Conversation) marksFor(t bill.Terms, first []int) (marks []bill.Mark) {
	if t.Kind != bill.Markers {
		return nil
	}
	add := func(m mark, pieces int) {
		if m != unmarked {
			marks = append(marks, bill.Mark{Pieces: pieces, Hour: m == markedLong})
		}
	}
	add(c.marks.head, 0)
	for i := range c.Messages {
		add(c.Messages[i].mark, first[i+1])
	}
	if end := first[len(c.Messages)]; len(marks) == 0 || marks[len(marks)-1].Pieces < end {
		add(c.marks.tail, end)
	}
	return marks
}

// ends reports whether a cache of endings can find a prompt at the end of a message: a user
// message, the last of a run of results, or the last of the first instructions.
func (c *Conversation) ends(i, instructions int) bool {
	switch c.Messages[i].Role {
	case User:
		return true
	case Tool:
		return i == len(c.Messages)-1 || c.Messages[i+1].Role != Tool
	}
	return i == instructions-1
}

// instructions counts the messages before anything from a user or the assistant.
func (c *Conversation) instructions() (n int) {
	for n < len(c.Messages) && c.Messages[n].Role == Other {
		n++
	}
	return n
}

// piece returns the piece with a message's content.
func (p *Plan) piece(req *bill.Request, message int) *bill.Piece {
	return &req.Pieces[p.firstPiece[message+1]-1]
}

// request returns the request as planned, if the first same messages are sent as before.
func (p *Plan) request(same int) bill.Request {
	first := p.firstPiece
	req := bill.Request{
		Head: p.c.extra.of(), Pieces: make([]bill.Piece, first[len(p.c.Messages)]),
		Sent: first[p.forms.sent], Same: first[same], Likely: first[p.forms.warm], Root: first[p.c.root()],
		Cold: p.cold != bill.MayBeWarm, Pause: p.pause, At: float64(p.in.Now), Marks: p.marks,
	}
	instructions := p.c.instructions()
	for i := range p.c.Messages {
		piece := p.piece(&req, i)
		p.sizeTo(&piece.Size, i)
		piece.Result = p.c.Messages[i].Role == Tool
		piece.Ends = p.terms.Kind == bill.Endings && p.c.ends(i, instructions)
	}
	for i := range p.removed {
		p.piece(&req, i).Removed = p.removed[i]
	}
	for i := range p.forms.of {
		p.piece(&req, i).Was = p.removedBefore(i)
	}
	return req
}
