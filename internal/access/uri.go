package access

import (
	"strings"
	"unicode"
)

// NormalURI returns the one spelling of a URI that rules are matched against:
//   - scheme and host in lower case
//   - percent-encoded letters, digits and punctuation decoded, everything else encoded in capitals
//   - no empty and no "." segments
//   - files of this machine as file:///
//   - an authority without user and default port
//
// It refuses URIs that a server might read as another path:
//   - a segment "..", also with parameters ("..;")
//   - an encoded dot, slash, backslash, percent sign or control character
//   - a backslash or a control character
//   - white space at an end
//   - a percent sign that encodes nothing
//   - characters that compatibility normalization (NFKC) turns into dots and slashes
func NormalURI(uri string) (normal string, ok bool) {
	decoded, ok := decodePercent(uri)
	if !ok || strings.TrimFunc(uri, isBlank) != uri {
		return "", false
	}
	scheme, rest, found := strings.Cut(decoded, ":")
	if !found || !isScheme(scheme) {
		scheme, rest = "", decoded
	} else {
		scheme = strings.ToLower(scheme) + ":"
	}
	if after, has := strings.CutPrefix(rest, "//"); has {
		end := strings.IndexAny(after, "/?#")
		if end < 0 {
			end = len(after)
		}
		scheme += "//" + normalAuthority(scheme, after[:end])
		rest = after[end:]
	} else if (scheme == fileScheme || scheme == "") && strings.HasPrefix(rest, "/") {
		scheme = fileScheme + "//" // also for a bare path, which file servers accept
	}
	path, query := rest, ""
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		path, query = rest[:i], rest[i:]
	}
	path, ok = cleanPath(scheme, pathPunctuation.Replace(path))
	return path + query, ok
}

// pathPunctuation holds characters that mean the same in a path whether encoded or not. Before the
// path they do not.
var pathPunctuation = strings.NewReplacer("%3A", ":", "%40", "@")

const fileScheme = "file:"

// usualPorts are the default ports of schemes.
var usualPorts = map[string]string{"http:": ":80", "ws:": ":80", "https:": ":443", "wss:": ":443"}

// normalAuthority returns the host, and the port unless it is the default.
func normalAuthority(scheme, authority string) string {
	host := strings.ToLower(authority[strings.LastIndexByte(authority, '@')+1:])
	if scheme == fileScheme && isThisMachine(host) {
		return ""
	}
	if port := usualPorts[scheme]; port != "" {
		host = strings.TrimSuffix(strings.TrimSuffix(host, port), ":")
		return strings.TrimSuffix(host, ".")
	}
	return host
}

// isThisMachine reports whether a file URI's host is this machine, whatever the port.
func isThisMachine(host string) bool {
	if i := strings.LastIndexByte(host, ':'); i >= 0 && strings.Trim(host[i+1:], "0123456789") == "" {
		host = host[:i]
	}
	switch strings.TrimSuffix(host, ".") {
	case "", "localhost", "127.0.0.1", "[::1]":
		return true
	}
	return false
}

// namesOneFile reports whether a normalized URI can only mean a file of one machine. A server may
// read other URIs as paths of its own machine: a file URI with a host or a relative path, a drive
// letter, or "url" as a scheme.
func namesOneFile(uri string) bool {
	scheme, rest, found := strings.Cut(uri, ":")
	switch {
	case uri == "" || uri == fileScheme || uri == fileScheme+"//":
		// common prefix of all: a template says nothing yet
		return true
	case !found || !isScheme(scheme) || len(scheme) == 1 || scheme == "url":
		return false
	case scheme != "file":
		return len(rest) < len(fileScheme) || !strings.EqualFold(rest[:len(fileScheme)], fileScheme)
	}
	path, local := strings.CutPrefix(rest, "///")
	drive, _, _ := strings.Cut(path, "/")
	return local && (len(drive) != 4 || drive[1:] != "%7C") // C| is C:
}

// isBlank reports whether some program ignores a character at the end of a text.
func isBlank(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' || r == '\u200b' }

// cleanPath removes "." and empty segments from a path and prepends before. It refuses "..". The
// two slashes of a URL within a path stay.
func cleanPath(before, path string) (string, bool) {
	if !isASCII(path) && looksLikePath(path) {
		return "", false
	}
	if !strings.Contains(path, "//") && !strings.Contains(path, "/.") && !strings.HasPrefix(path, ".") {
		return before + path, true
	}
	var b strings.Builder
	b.WriteString(before)
	for i := 0; i < len(path); {
		end := i
		for end < len(path) && path[end] != '/' {
			end++
		}
		segment, more := path[i:end], end < len(path)
		if name, _, _ := strings.Cut(segment, ";"); name == ".." {
			return "", false
		}
		b.WriteString(strings.TrimPrefix(segment, onlyDot(segment)))
		if more {
			have := b.String()
			if !strings.HasSuffix(have, "/") || strings.HasSuffix(have, ":/") || len(have) == len(before) {
				b.WriteByte('/')
			}
		}
		i = end + 1
	}
	return b.String(), true
}

// isASCII reports whether a path has only ASCII characters and no percent-encodings.
func isASCII(path string) bool {
	for i := range len(path) {
		if path[i] >= 0x80 || path[i] == '%' {
			return false
		}
	}
	return true
}

// lookAlikes maps characters to the dots and slashes that NFKC makes of them.
var lookAlikes = strings.NewReplacer("\u2024", ".", "\u2025", "..", "\ufe52", ".", "\uff0e", ".", "\uff0f", "/", "\ufe68", "/", "\uff3c", "/")

// looksLikePath reports whether a server that normalizes characters would find another slash or a
// segment "..".
func looksLikePath(path string) bool {
	plain := path
	if strings.Contains(path, "%") {
		plain = unescape(path)
	}
	folded := lookAlikes.Replace(plain)
	if strings.Count(folded, "/") != strings.Count(plain, "/") {
		return true
	}
	for segment := range strings.SplitSeq(folded, "/") {
		if name, _, _ := strings.Cut(segment, ";"); name == ".." {
			return true
		}
	}
	return false
}

// unescape decodes every percent-encoding in the output of decodePercent.
func unescape(s string) string {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			b = append(b, byte(hexDigit(s[i+1]))<<4|byte(hexDigit(s[i+2]))) //nolint:gosec // 0–15
			i += 2
			continue
		}
		b = append(b, s[i])
	}
	return string(b)
}

func onlyDot(segment string) string {
	if segment == "." {
		return segment
	}
	return ""
}

// decodePercent decodes characters that need no encoding and encodes those that do. It refuses
// hidden separators.
func decodePercent(uri string) (string, bool) {
	plain := true
	for i := range len(uri) {
		switch c := uri[i]; {
		case c < ' ' || c == 0x7f || c == '\\':
			return "", false
		case c == '%' || needsEncoding(c):
			plain = false
		}
	}
	if plain {
		return uri, true
	}
	b := make([]byte, 0, len(uri))
	for i := 0; i < len(uri); i++ {
		if needsEncoding(uri[i]) {
			b = append(b, '%', hexDigits[uri[i]>>4], hexDigits[uri[i]&15])
			continue
		}
		if uri[i] != '%' {
			b = append(b, uri[i])
			continue
		}
		if i+2 >= len(uri) {
			return "", false
		}
		high, low := hexDigit(uri[i+1]), hexDigit(uri[i+2])
		if high < 0 || low < 0 {
			return "", false
		}
		switch c := byte(high)<<4 | byte(low); {
		case c == '.' || c == '/' || c == '\\' || c == '%' || c < ' ' || c == 0x7f:
			return "", false
		case isUnreserved(c) || strings.IndexByte(subDelimiters, c) >= 0:
			b = append(b, c)
		default:
			b = append(b, '%', hexDigits[high], hexDigits[low])
		}
		i += 2
	}
	return string(b), true
}

const hexDigits = "0123456789ABCDEF"

// subDelimiters mean the same whether encoded or not (RFC 3986).
const subDelimiters = "!$&'()*+,;="

// needsEncoding reports whether a URI must percent-encode a byte.
func needsEncoding(c byte) bool { return c >= 0x80 || strings.IndexByte(" \"<>^`{|}", c) >= 0 }

func hexDigit(c byte) int8 {
	switch {
	case '0' <= c && c <= '9':
		return int8(c - '0')
	case 'a' <= c && c <= 'f':
		return int8(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int8(c-'A') + 10
	}
	return -1
}

func isUnreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '~'
}

func isScheme(s string) bool {
	if s == "" || '0' <= s[0] && s[0] <= '9' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; c == '_' || c == '~' || !isUnreserved(c) && c != '+' && c != '.' {
			return false
		}
	}
	return true
}
