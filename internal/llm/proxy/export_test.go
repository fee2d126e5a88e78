package proxy

// WaitForBooks returns when the accounts of all answers so far are kept.
func (p *Proxy) WaitForBooks() { p.books.jobs.Wait() }
