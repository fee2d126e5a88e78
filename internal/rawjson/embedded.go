package rawjson

import "strings"

// Embedded finds the multi-line string that makes up most of a one-line JSON document. Clients wrap
// a file or the output of a command in this way. Such a text is read by the lines of that string.
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
