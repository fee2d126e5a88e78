package prune

import "strings"

// skipStamp returns the length of the time at the start of a log line; 0: none. It includes the
// brackets and blanks around it, and the prefix of a CI service.
func skipStamp(line string) int {
	at := 0
	// Job and step, as "gh run view --log" writes them.
	if n := strings.IndexByte(line, '\t'); n > 0 && n < 80 {
		if m := strings.IndexByte(line[n+1:], '\t'); m >= 0 && m < 80 && stamp(line[n+m+2:]) > 0 {
			at = n + m + 2
		}
	}
	n := stamp(line[at:])
	if n == 0 {
		return 0
	}
	at += n
	if at < len(line) && line[at] == ' ' {
		at++
	}
	return at
}

// stamp returns the length of a date, a time or both, up to the blank after it.
func stamp(line string) int {
	i := 0
	line = line[:min(len(line), 64)]
	open := byte(0)
	if i < len(line) && (line[i] == '[' || line[i] == '(') {
		open = line[i] + 2
		if open == '*' {
			open = ')'
		}
		i++
		for i < len(line) && line[i] == ' ' {
			i++
		}
	}
	first := dateOrTime(line[i:])
	if first == 0 {
		if open == 0 {
			return 0
		}
		if first = uptime(line[i:]); first == 0 {
			return 0
		}
	}
	i += first
	for range 2 { // a time after a date, a zone after a time
		if i >= len(line) || line[i] != ' ' {
			break
		}
		if n := dateOrTime(line[i+1:]); n > 0 {
			i += 1 + n
		} else if n := zone(line[i+1:]); n > 0 {
			i += 1 + n
		}
	}
	if open != 0 && i < len(line) && line[i] == open {
		i++
	}
	for i < len(line) && (line[i] == ':' || line[i] == ',') {
		i++
	}
	return i
}

// dateOrTime returns the length of a date or time word: 2026-01-02T03:04:05.678Z, 03:04:05,
// 02/Jan/2026:03:04:05, "Jan 2".
func dateOrTime(s string) int {
	if len(s) > 5 && isMonth(s[:3]) && s[3] == ' ' {
		i := 4
		for i < len(s) && (s[i] == ' ' || classes[s[i]] == digitClass) && i < 6 {
			i++
		}
		return i
	}
	i, digits, joints := 0, 0, 0
	for i < len(s) {
		switch c := s[i]; {
		case classes[c] == digitClass:
			digits++
		case c == '-' || c == ':' || c == '/':
			joints++
		case c == '.' || c == ',' || c == '+' || c == 'T' || c == 'Z':
		case i+3 <= len(s) && isMonth(s[i:i+3]):
			i += 2
		default:
			goto end
		}
		i++
	}
end:
	if joints < 2 || digits < 4 || digits*2 < i || classes[s[0]] != digitClass {
		return 0
	}
	return i
}

func isMonth(s string) bool {
	const months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"
	at := strings.Index(months, s)
	return at >= 0 && at%4 == 0
}

// uptime returns the length of the seconds since the start, as the kernel writes them.
func uptime(s string) int {
	i := 0
	for i < len(s) && (classes[s[i]] == digitClass || s[i] == '.') {
		i++
	}
	if i > 2 && strings.IndexByte(s[:i], '.') > 0 {
		return i
	}
	return 0
}

func zone(s string) int {
	if len(s) >= 5 && (s[0] == '+' || s[0] == '-') && classes[s[1]] == digitClass {
		return 5
	}
	if strings.HasPrefix(s, "UTC") || strings.HasPrefix(s, "GMT") {
		return 3
	}
	return 0
}

// skipEscape returns the end of the terminal escape sequence at i.
func skipEscape(s string, i, end int) int {
	i++
	if i >= end || s[i] != '[' {
		return i
	}
	for i++; i < end; i++ {
		if c := s[i]; c >= 0x40 && c <= 0x7e {
			return i + 1
		}
	}
	return end
}
