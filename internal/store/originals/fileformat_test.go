package originals_test

import (
	"bytes"
	"strings"
	"testing"

	"secateur/internal/store/originals"
	"secateur/internal/store/originals/originalstest"
)

func TestFileIsCompressedWhereThatHelps(t *testing.T) {
	for _, c := range []struct {
		rule, text string
		most       int
	}{
		{"text becomes smaller", strings.Repeat("the same line\n", 10_000), 1000},
		{"noise is kept as it is", originalstest.Noise(1, 100_000), 100_052},
		{"a short text is kept as it is", strings.Repeat("a", 1000), 1052},
		{"an empty text is a header and when it expires", "", 52},
	} {
		file := originals.Encode("tenant", c.text)
		if len(file) > c.most {
			t.Errorf("%s: %d bytes become a file of %d, want %d at most", c.rule, len(c.text), len(file), c.most)
		}
		if got, err := originals.Decode(file, "tenant", originals.ID("tenant", c.text)); err != nil || got != c.text {
			t.Errorf("%s: decoded %d bytes, %v", c.rule, len(got), err)
		}
	}
}

func FuzzFileRoundTrip(f *testing.F) {
	f.Add("tenant", "text", 1)
	f.Add("", "", 0)
	f.Add("\xff", "\xed\xa0\x80", 1000)
	f.Fuzz(func(t *testing.T, tenant, text string, times int) {
		if times > 0 && times < 2000 && len(text) < 1000 {
			text = strings.Repeat(text, times)
		}
		file := originals.Encode(tenant, text)
		if got, err := originals.Decode(file, tenant, originals.ID(tenant, text)); err != nil || got != text {
			t.Errorf("decoded %d bytes, %v, want %d bytes", len(got), err, len(text))
		}
		if _, err := originals.Decode(file, tenant+"x", originals.ID(tenant, text)); err == nil {
			t.Error("another tenant can read it")
		}
	})
}

func FuzzDamagedFile(f *testing.F) {
	f.Add("a text", 5, byte(1), 0)
	f.Add(strings.Repeat("long ", 1000), 16, byte(128), 3)
	f.Fuzz(func(t *testing.T, text string, at int, change byte, cut int) {
		file := originals.Encode("", text)
		bad := bytes.Clone(file)
		if cut > 0 && cut <= len(bad) {
			bad = bad[:len(bad)-cut]
		}
		if at >= 0 && at < len(bad) {
			bad[at] ^= change
		}
		got, err := originals.Decode(bad, "", originals.ID("", text))
		if bytes.Equal(bad, file) {
			if err != nil || got != text {
				t.Errorf("an undamaged file: %v", err)
			}
		} else if err == nil {
			t.Errorf("a damaged file gives %q", got)
		}
	})
}
