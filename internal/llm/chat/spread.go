package chat

// minShare is how many characters are worth a goroutine.
const minShare = 32 << 10

// each does something with every one of these results, in as many shares as their texts are worth. What it notes it notes by the message.
func (p *Plan) each(messages []int, do func(message int)) {
	if len(messages) == 0 {
		return
	}
	if p.decoded == nil {
		p.decoded = make([]string, len(p.c.Messages))
	}
	if p.short == nil {
		p.short = make([]int, len(p.c.Messages))
	}
	chars := 0
	for _, i := range messages {
		chars += p.c.Messages[i].Chars
	}
	if p.in.Spread == nil {
		for _, i := range messages {
			do(i)
		}
		return
	}
	p.in.Spread(min(chars/minShare, len(messages)), len(messages), func(i int) { do(messages[i]) })
}
