package ratelimit

// Remembered is how many principals are held in memory.
func (l *Local) Remembered() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.tat)
}
