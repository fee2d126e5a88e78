package chat

// mostLookedAt is how many bytes before a result are searched for its names, nearest first.
const mostLookedAt = 1 << 18

// knownNames reports for each name of a result whether the user or the model said it before, in
// words or in a call. The reader of the result has it anyway. Other results do not count, since
// they may be cut. sent has the calls that are.
func (c *Conversation) knownNames(result int, text string, sent map[int]string) func(name string) bool {
	known := make(map[string]bool)
	eachName(text, func(word string, _ bool) { known[word] = false })
	for i, room := result-1, mostLookedAt; i >= 0 && room > 0 && len(known) > 0; i-- {
		m := &c.Messages[i]
		if m.Role != User && m.Role != Assistant {
			continue
		}
		if cut, ok := sent[i]; ok {
			room -= markKnown(known, []byte(cut))
		} else {
			for _, call := range m.Calls {
				room -= markKnown(known, c.bytes(call.arguments))
			}
		}
		room -= markKnown(known, c.bytes(m.text))
	}
	return func(name string) bool { return known[name] }
}

// knownIn tells of each name of a text whether it is in one of some raw strings or documents, the last ones first.
func knownIn(text string, said [][]byte) func(name string) bool {
	known := make(map[string]bool)
	eachName(text, func(word string, _ bool) { known[word] = false })
	room := mostLookedAt
	for i := len(said) - 1; i >= 0 && room > 0 && len(known) > 0; i-- {
		room -= markKnown(known, said[i])
	}
	return func(name string) bool { return known[name] }
}

// markKnown marks the names that a raw string holds, or a document, or a string that holds one, and returns its size.
func markKnown(known map[string]bool, raw []byte) int {
	for i := 0; i < len(raw); {
		if raw[i] == '\\' {
			for i < len(raw) && raw[i] == '\\' { // escaped again if a string contains a document
				i++
			}
			i++ // the next byte is the escaped character, not part of a name
			continue
		}
		start := i
		for i < len(raw) && isWordByte(raw[i]) {
			i++
		}
		if n := i - start; n >= minName && n <= maxName {
			if _, ok := known[string(raw[start:i])]; ok {
				known[string(raw[start:i])] = true
			}
		}
		if i == start {
			i++
		}
	}
	return len(raw)
}
