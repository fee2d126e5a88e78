package chat

// minShare is how many characters are worth a goroutine.
const minShare = 32 << 10

// each calls do for these results, in as many goroutines as their texts are worth. do may only
// write to the entries of its message.
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
