package catalog

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"secateur/internal/rawjson"
)

// ContractSeparator separates a server's id from a name, unless a client needs another separator.
// No id contains it.
const ContractSeparator = "::"

// MinNameLength is the smallest allowed maximum length. It leaves space for a hash and a
// distinctive part.
const MinNameLength = 16

// hashLength is the length of the suffix of a shortened name: '_' and eight hexadecimal digits.
const hashLength = 9

// Naming is the naming scheme of tools and prompts for one kind of client. Equal Namings give equal
// names.
type Naming struct {
	// Separator separates a server's id from the name.
	Separator string
	// MaxLength is in characters. Longer names are cut and get a hash. 0: unlimited.
	MaxLength int
	// Punctuation lists the characters allowed beside ASCII letters and digits. It contains '_',
	// which replaces all others. "": every character is allowed.
	Punctuation string
}

// minServerLength is the shortest beginning of a server's id in front of a whole name.
const minServerLength = 3

// name returns the name of a server's tool or prompt. Attempt 0 gives the plain form. If that is
// too long, the server's part is shortened and the name stays whole, or else is cut. Later attempts,
// for names already taken, always have a hash, and from attempt 2 on a different one each.
func (n Naming) name(server, name string, attempt int) string {
	id, own := n.clean(server), n.clean(name)
	full := id + n.Separator + own
	limit := n.MaxLength
	if limit > 0 {
		limit = max(limit, MinNameLength)
	}
	if attempt == 0 && (limit <= 0 || rawjson.Chars(full) <= limit) {
		return full
	}
	third := (limit - hashLength) / 3 // what a long id may take, so that a server's tools begin alike
	if room := limit - rawjson.Chars(n.Separator+own) - hashLength; attempt == 0 && room >= minServerLength {
		return shortened(id, min(room, third)) + "_" + nameHash(server, "", 1) + n.Separator + own
	}
	if limit > 0 {
		full = shortened(shortened(id, third)+n.Separator+own, limit-hashLength)
	}
	return full + "_" + nameHash(server, name, max(attempt, 1))
}

// shortened returns at most n characters of s. It does not end in "_": "__" has a meaning to some
// clients.
func shortened(s string, n int) string {
	if rawjson.Chars(s) <= n {
		return s
	}
	return strings.TrimRight(firstChars(s, n), "_")
}

// names returns unique names for the entries. If two would be equal, the later one gets a hash. So
// does a name that looks like another server's.
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

// looksForeign reports whether a server's name begins like those of another server with a longer
// id. a-b-x is a tool of a-b, even while that server has none.
func (n Naming) looksForeign(servers []string, own int, name string) bool {
	if n.Separator == "" || n.Separator == ContractSeparator { // no id contains it
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

// accepts reports whether a separator can be used unchanged.
func (n Naming) accepts(separator string) bool {
	return n.Punctuation == "" || !strings.ContainsFunc(separator, n.refuses)
}

// nameHash depends only on the server and the original name. It is thus the same for all clients
// and at all times.
func nameHash(server, name string, attempt int) string {
	b := binary.AppendUvarint(nil, uint64(len(server)))
	b = append(append(b, server...), name...)
	if attempt > 1 {
		b = binary.AppendUvarint(append(b, 0), uint64(attempt))
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:(hashLength-1)/2])
}

// firstChars returns the first n characters of s, which is WTF-8 and has more.
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
