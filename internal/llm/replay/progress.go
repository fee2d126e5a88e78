package replay

import "sync"

// progress counts played requests. A nil progress counts nothing.
type progress struct {
	tell func(done, of int)
	of   int

	mu   sync.Mutex
	done int // guarded by mu
}

// newProgress computes the total number of requests to play.
func newProgress(sessions []Session, o Options) *progress {
	if o.Progress == nil {
		return nil
	}
	p := &progress{tell: o.Progress}
	for i := range sessions {
		times := 0
		for _, t := range o.Tables {
			if t.Format == sessions[i].format {
				times++
			}
		}
		if o.Prices != nil {
			if _, known := o.Prices(sessions[i].Model, sessions[i].day()); known {
				times++
			}
		}
		p.of += times * len(o.Strategies) * len(sessions[i].requests)
	}
	return p
}

func (p *progress) add(requests int) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += requests
	p.tell(p.done, p.of)
}
