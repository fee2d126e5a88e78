package chat

// FrozenKeys names the results whose bytes may be frozen, the newest first, at most so many: what Jobs will ask for, as far as that can be told before the past
// is known. With it a store is asked once for both.
func (c *Conversation) FrozenKeys(s Pruning, most int) (keys []Key) {
	if !s.Enabled {
		return nil
	}
	for i := len(c.Messages) - 1; i >= 0 && len(keys) < most; i-- {
		if !c.isResult(i) || c.Messages[i].Chars < s.MinChars {
			continue
		}
		keys = append(keys, c.key(i+1))
		if c.Thread != NoThread {
			keys = append(keys, c.threadKey(i))
		}
	}
	return keys
}
