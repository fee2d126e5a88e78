package chat

// FrozenKeys returns the keys of results whose bytes may be frozen, newest first, at most most:
// what Jobs will ask for, as far as known before the past is. It allows one request to the store
// for both.
func (c *Conversation) FrozenKeys(s Pruning, most int) (keys []Key) {
	if !s.Enabled {
		return nil
	}
	for i := len(c.Messages) - 1; i >= 0 && len(keys) < most; i-- {
		isCall := s.Arguments == ArgumentsOn && c.hasArguments(i)
		if !isCall && (!c.isResult(i) || c.Messages[i].Chars < s.least()) {
			continue
		}
		keys = append(keys, c.key(i+1))
		if c.Thread != NoThread {
			keys = append(keys, c.threadKey(i))
		}
	}
	return keys
}
