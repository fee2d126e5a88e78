package chat

import (
	"slices"

	"secateur/internal/prune"
)

// referred lists the results that the sent form of a result refers to.
func (c *Conversation) referred(result int, sent string) (earlier []int) {
	for _, call := range prune.ReadReferences(sent) {
		if i := c.resultOf(call, result); i >= 0 {
			earlier = append(earlier, i)
		}
	}
	return earlier
}

// pin protects the results from masking that others refer to. The window strategies mask a result
// together with the reference to it; see unmaskReferred.
func (p *Plan) pin() {
	if p.in.Masking.Strategy != Priced {
		return
	}
	for i, text := range p.texts {
		for _, earlier := range p.c.referred(i, text) {
			if p.pinned == nil {
				p.pinned = make(map[int]bool)
			}
			p.pinned[earlier] = true
		}
	}
}

// unmaskReferred undoes the masks of results that an unmasked one refers to, the last one first:
// references go backward.
func (p *Plan) unmaskReferred() {
	for i := range slices.Backward(p.kinds) {
		if p.kinds[i] != Pruned {
			continue
		}
		for _, earlier := range p.c.referred(i, p.texts[i]) {
			if p.kinds[earlier] != Masked {
				continue
			}
			p.kinds[earlier] = Whole
			if _, ok := p.texts[earlier]; ok {
				p.kinds[earlier] = Pruned
			}
		}
	}
}

// dangles reports whether a form made in another lane refers to a result that is masked in this
// one, which has not sent the form yet.
func (p *Plan) dangles(i int, text string) bool {
	if i < p.forms.lane {
		return false
	}
	for _, earlier := range p.c.referred(i, text) {
		if p.kinds[earlier] == Masked {
			return true
		}
	}
	return false
}
