package lane

import "bytes"

// maxBody is the longest body of a usual request. A longer one takes long enough for the rest not to matter.
const maxBody = 64 << 10

// isUsual reports whether a request that begins with these bytes is one that is served here. Its whole header must be among
// them, and have nothing in it of which two readers could think differently.
func isUsual(b []byte) bool {
	line, rest, ok := cutLine(b)
	if !ok || !isUsualStart(line) {
		return false
	}
	var hosts, lengths int
	for {
		if line, rest, ok = cutLine(rest); !ok {
			return false
		}
		if len(line) == 0 {
			return hosts == 1 && lengths == 1
		}
		name, value, ok := bytes.Cut(line, []byte{':'})
		if !ok || !isToken(name) {
			return false
		}
		value = bytes.Trim(value, " \t")
		switch field(name) {
		case host:
			hosts++
			ok = isHost(value)
		case contentLength:
			lengths++
			ok = isLength(value)
		case connection:
			ok = bytes.EqualFold(value, []byte("keep-alive"))
		case forOthers:
			ok = false
		default:
			ok = isText(value)
		}
		if !ok {
			return false
		}
	}
}

// cutLine cuts the first line off; false: it has no end, or another than CR LF.
func cutLine(b []byte) (line, rest []byte, ok bool) {
	end := bytes.IndexByte(b, '\n')
	if end < 1 || b[end-1] != '\r' {
		return nil, nil, false
	}
	return b[:end-1], b[end+1:], true
}

// isUsualStart reports whether a request's first line is a POST to a path.
func isUsualStart(line []byte) bool {
	target, ok := bytes.CutPrefix(line, []byte("POST /"))
	if !ok {
		return false
	}
	if target, ok = bytes.CutSuffix(target, []byte(" HTTP/1.1")); !ok {
		return false
	}
	for _, c := range target {
		if c <= ' ' || c >= 0x7f {
			return false
		}
	}
	return true
}

// What a field of a header is for, as far as it decides.
const (
	other = iota
	host
	contentLength
	connection
	forOthers // says how the message or the connection goes on, in ways that are net/http's
)

// field is what the field of this name is for.
func field(name []byte) int {
	is := func(s string) bool { return len(name) == len(s) && bytes.EqualFold(name, []byte(s)) }
	switch {
	case is("Host"):
		return host
	case is("Content-Length"):
		return contentLength
	case is("Connection"):
		return connection
	case is("Transfer-Encoding"), is("Expect"), is("Upgrade"), is("Trailer"), is("Http2-Settings"):
		return forOthers
	}
	return other
}

func isToken(name []byte) bool {
	for _, c := range name {
		if !tokens[c] {
			return false
		}
	}
	return len(name) > 0
}

// tokens are the characters that names of fields are made of (RFC 9110).
var tokens = func() (is [256]bool) {
	for _, c := range []byte("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		is[c] = true
	}
	return is
}()

func isText(value []byte) bool {
	for _, c := range value {
		if c < ' ' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}

// isHost reports whether a value is a name or an address, with or without a port.
func isHost(value []byte) bool {
	for _, c := range value {
		switch {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '.', c == '-', c == '_', c == ':', c == '[', c == ']':
		default:
			return false
		}
	}
	return len(value) > 0
}

// isLength reports whether a value is the length of a body that is not large.
func isLength(value []byte) bool {
	n := 0
	for _, c := range value {
		if c < '0' || c > '9' || n > maxBody {
			return false
		}
		n = 10*n + int(c-'0')
	}
	return len(value) > 0 && n <= maxBody
}
