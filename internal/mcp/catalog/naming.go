package catalog

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"secateur/internal/rawjson"
)

// ContractSeparator stands between a server's id and a name wherever a client
// does not need another one. No id contains it.
const ContractSeparator = "::"

// MinNameLength is the smallest cap on names: it leaves room for a hash and
// something to tell tools apart by.
const MinNameLength = 16

// hashLength is that of the suffix of a name that was cut: a '_' and eight
// hexadecimal digits.
const hashLength = 9

// Naming is how the names of tools and prompts look to one kind of client. Two
// Namings that are == give the same names.
type Naming struct {
	// Separator stands between a server's id and the name.
	Separator string
	// MaxLength is in characters; longer names are cut and get a hash. 0: any length.
	MaxLength int
	// Punctuation is what may stand in a name beside ASCII letters and digits, '_'
	// among it; everything else becomes '_'. "": every character may.
	Punctuation string
}

// name returns what a server's tool or prompt is called. The first attempt is the
// plain form, or the cut one where that is too long; a further attempt, made when
// the name is taken already, always has a hash, and from the third one on another.
func (n Naming) name(server, name string, attempt int) string {
	full := n.clean(server) + n.Separator + n.clean(name)
	limit := n.MaxLength
	if limit > 0 {
		limit = max(limit, MinNameLength)
	}
	if attempt == 0 && (limit <= 0 || rawjson.Chars(full) <= limit) {
		return full
	}
	if limit > 0 {
		full = strings.TrimRight(firstChars(full, limit-hashLength), "_") // "__" means something to some clients
	}
	return full + "_" + nameHash(server, name, max(attempt, 1))
}

// names returns what the entries are called, each differently: of two that would
// be equal the later gets a hash, and so does one that looks like another server's.
func (n Naming) names(servers []string, entries []entry) []string {
	names := make([]string, len(entries))
	taken := make(map[string]struct{}, len(entries))
	for i := range entries {
		e := &entries[i]
		for attempt := 0; ; attempt++ {
			names[i] = n.name(servers[e.server], e.name, attempt)
			if _, is := taken[names[i]]; !is && (attempt > 0 || !n.looksForeign(servers, e.server, names[i])) {
				break
			}
		}
		taken[names[i]] = struct{}{}
	}
	return names
}

// looksForeign tells whether a name of one server's begins as those of another do whose
// id is longer: a-b-x is a tool of a-b, even while that has none.
func (n Naming) looksForeign(servers []string, own int, name string) bool {
	if n.Separator == "" || n.Separator == ContractSeparator { // which no id contains
		return false
	}
	for _, server := range servers {
		if len(server) > len(servers[own]) && strings.HasPrefix(name, n.clean(server)+n.Separator) {
			return true
		}
	}
	return false
}

// clean replaces the characters that a client does not accept.
func (n Naming) clean(s string) string {
	if n.Punctuation == "" || !strings.ContainsFunc(s, n.refuses) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if n.refuses(r) {
			return '_'
		}
		return r
	}, s)
}

func (n Naming) refuses(r rune) bool {
	isPlain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	return !isPlain && (r >= utf8.RuneSelf || strings.IndexByte(n.Punctuation, byte(r)) < 0) //nolint:gosec // below 0x80 here
}

// accepts tells whether a separator can be used as it is.
func (n Naming) accepts(separator string) bool {
	return n.Punctuation == "" || !strings.ContainsFunc(separator, n.refuses)
}

// nameHash depends on what is named and not on how, so that a name's hash is the
// same for all clients and at all times.
func nameHash(server, name string, attempt int) string {
	b := binary.AppendUvarint(nil, uint64(len(server)))
	b = append(append(b, server...), name...)
	if attempt > 1 {
		b = binary.AppendUvarint(append(b, 0), uint64(attempt))
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:(hashLength-1)/2])
}

// firstChars returns the first n characters of s, WTF-8, which has more.
func firstChars(s string, n int) string {
	for i := range len(s) {
		if s[i]>>6 == 0x80>>6 {
			continue
		}
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
