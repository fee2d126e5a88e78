package rawjson

import "strings"

// Embedded finds the string that holds most of a JSON document of one line, and has lines of its own: the output of a command, or a
// file, that a client has wrapped into an object or a list. Such a text is read by the lines of that string.
func Embedded(doc string) (String, bool) {
	const (
		minChars = 1000
		minLines = 10
		maxDepth = 100
	)
	body := strings.TrimSpace(doc)
	if len(body) < minChars || body[0] != '{' && body[0] != '[' || strings.Contains(body, "\n") {
		return String{}, false
	}
	long, err := LongStrings([]byte(doc), maxDepth, minChars)
	if err != nil {
		return String{}, false
	}
	var most String
	for _, s := range long {
		if s.End-s.Start > most.End-most.Start {
			most = s
		}
	}
	raw := doc[most.Start:most.End]
	return most, 2*len(raw) >= len(body) && strings.Count(raw, `\n`) >= minLines
}
