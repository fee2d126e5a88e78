package llm

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// key signs what only this provider can have made.
const key = "a provider's own key"

func sign(parts ...string) string {
	h := sha256.Sum256([]byte(key + "\x00" + strings.Join(parts, "\x00")))
	return hex.EncodeToString(h[:8])
}

// prefix is the hash of everything before a point of a conversation: values only, without markers
// and thinking. Formatting and the order of names do not count.
type prefix [sha256.Size]byte

func (p *prefix) add(kind string, raw json.RawMessage) {
	canonical, err := json.Marshal(value(raw))
	if err != nil {
		canonical = raw
	}
	*p = sha256.Sum256(append(append(p[:], kind...), canonical...))
}

func (p prefix) String() string { return hex.EncodeToString(p[:8]) }

// A signature is prefix.predecessor.answer.number.proof: what was before the block, the thinking
// block before it, and its answer.
type signature struct{ prefix, before, answer, number string }

func (s signature) String() string {
	body := strings.Join([]string{s.prefix, s.before, s.answer, s.number}, ".")
	return body + "." + sign(body)
}

func parseSignature(text string) (signature, bool) {
	i := strings.LastIndexByte(text, '.')
	if i < 0 || sign(text[:i]) != text[i+1:] {
		return signature{}, false
	}
	f := strings.Split(text[:i], ".")
	if len(f) != 4 {
		return signature{}, false
	}
	return signature{f[0], f[1], f[2], f[3]}, true
}

// binding checks the thinking blocks of a request as it is read.
type binding struct {
	binds bool
	so    prefix
	last  string // proof of the thinking block before; "": none
}

// refusal says why a thinking block is not accepted.
type refusal struct{ where, why string }

func (r *refusal) Error() string { return r.where + ": " + r.why }

// check checks a thinking block at a place.
func (b *binding) check(where, kind, signed string) *refusal {
	s, ok := parseSignature(signed)
	if !ok {
		return &refusal{where, fmt.Sprintf("Invalid `signature` in `%s` block", kind)}
	}
	before := b.last
	b.last = proof(signed)
	if !b.binds {
		return nil
	}
	// Thinking may be removed from the beginning: then nothing comes before. It may not be removed
	// from the middle.
	if s.prefix != b.so.String() || before != "" && s.before != before {
		return &refusal{where, fmt.Sprintf("Invalid `signature` in `%s` block. The block is bound to a different conversation.", kind)}
	}
	return nil
}

func proof(signed string) string { return signed[strings.LastIndexByte(signed, '.')+1:] }
