package proxy

// WaitForBooks waits for the bookkeeping of all responses so far.
func (p *Proxy) WaitForBooks() { p.books.jobs.Wait() }
