package originals_test

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"regexp"
	"strings"
	"testing"

	"secateur/internal/store/originals"
	"secateur/internal/store/originals/originalstest"
)

func TestIDIsTheHashInCrockfordBase32(t *testing.T) {
	form := regexp.MustCompile(`^prn_[0-9A-HJKMNP-TV-Z]{26}$`)
	crockford := base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)
	for _, tenant := range []string{"", "a", "tenant", strings.Repeat("é", 300)} {
		for _, text := range []string{"", "x", "\x00\xff", originalstest.Noise(3, 100_000)} {
			length := binary.BigEndian.AppendUint64(nil, uint64(len(tenant)))
			sum := sha256.Sum256([]byte(string(length) + tenant + text))
			want := "prn_" + crockford.EncodeToString(sum[:])[:26]
			if got := originals.ID(tenant, text); got != want || !form.MatchString(got) {
				t.Errorf("ID(%.10q, %.10q) = %s, want %s", tenant, text, got, want)
			}
		}
	}
}

// Ids are written into conversations and looked up by later versions, so they must never change.
func TestIDIsForGood(t *testing.T) {
	if got, want := originals.ID("tenant", "text"), "prn_T39MQTFYEPGRN004CBXTX8V86D"; got != want {
		t.Errorf("ID = %s, want %s", got, want)
	}
}

func BenchmarkID(b *testing.B) {
	text := originalstest.Noise(1, 1<<20)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		originals.ID("tenant", text)
	}
}
