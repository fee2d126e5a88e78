package rawjson_test

import (
	"testing"
	"unicode/utf8"

	"secateur/internal/rawjson"
)

func TestUnquote(t *testing.T) {
	for _, c := range []struct {
		rule, raw, text string
		chars           int
	}{
		{"nothing", `""`, "", 0},
		{"plain", `"abc"`, "abc", 3},
		{"simple escapes", `"\"\\\/\b\f\n\r\t"`, "\"\\/\b\f\n\r\t", 8},
		{"code points by number", `"\u00e9\u65e5\u0000x"`, "é日\x00x", 4},
		{"a pair", `"a\ud83d\ude00b"`, "a😀b", 3},
		{"the first and the last pair", `"\ud800\udc00\udbff\udfff"`, "\U00010000\U0010ffff", 2},
		{"a lone high surrogate", `"a\ud800b"`, "a\xed\xa0\x80b", 3},
		{"a lone low surrogate", `"\udfff"`, "\xed\xbf\xbf", 1},
		{"high, high, low", `"\ud800\ud83d\ude00"`, "\xed\xa0\x80😀", 2},
		{"high, low, low", `"\ud83d\ude00\ude00"`, "😀\xed\xb8\x80", 2},
		{"a high surrogate before an escaped backslash", `"\ud83d\\ude00"`, "\xed\xa0\xbd\\ude00", 7},
		{"raw UTF-8", `"é日😀"`, "é日😀", 3},
		{"what only looks like an escape", `"\\u00e9\\\u00e9"`, `\u00e9\é`, 8},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if text := rawjson.Unquote([]byte(c.raw)); text != c.text {
				t.Errorf("Unquote(%s) = %q, want %q", c.raw, text, c.text)
			}
			if n := rawjson.CountChars([]byte(c.raw)); n != c.chars {
				t.Errorf("CountChars(%s) = %d, want %d", c.raw, n, c.chars)
			}
			if n := rawjson.Chars(c.text); n != c.chars {
				t.Errorf("Chars(%q) = %d, want %d", c.text, n, c.chars)
			}
			if back := rawjson.Unquote(rawjson.AppendQuoted(nil, c.text)); back != c.text {
				t.Errorf("Unquote(AppendQuoted(%q)) = %q", c.text, back)
			}
		})
	}
}

func TestAppendQuoted(t *testing.T) {
	for _, c := range []struct{ rule, text, raw string }{
		{"quotes and backslashes", `a"b\c`, `"a\"b\\c"`},
		{"control characters", "\x00\x1f\b\f\n\r\t\x7f", `"\u0000\u001f\b\f\n\r\t` + "\x7f\""},
		{"other characters as they are", "é日😀</script>", `"é日😀</script>"`},
		{"a lone surrogate", "a\xed\xa0\xbdb\xed\xbf\xbf", `"a\ud83db\udfff"`},
		{"invalid bytes, one by one", "\xff\xc3\xe2\x82", `"����"`},
		{"a surrogate that lacks a byte", "\xed\xa0", `"��"`},
		{"the replacement character itself", "�", `"�"`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if raw := string(rawjson.AppendQuoted([]byte("x"), c.text)); raw != "x"+c.raw {
				t.Errorf("AppendQuoted(%q) = %s, want %s", c.text, raw, c.raw)
			}
		})
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"", "abc", "é日😀", "\x00\n\"\\", "\xed\xa0\x80\xed\xb0\x80", "\xff\xfe", "\xed\xa0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		raw := rawjson.AppendQuoted(nil, s)
		if err := rawjson.Check(raw, 0); err != nil {
			t.Fatalf("AppendQuoted(%q) = %s: %v", s, raw, err)
		}
		text := rawjson.Unquote(raw)
		if utf8.ValidString(s) && text != s {
			t.Errorf("Unquote(AppendQuoted(%q)) = %q", s, text)
		}
		if again := rawjson.Unquote(rawjson.AppendQuoted(nil, text)); again != text {
			t.Errorf("%q comes back as %q", text, again)
		}
		if a, b := rawjson.Chars(text), rawjson.CountChars(raw); a != b {
			t.Errorf("Chars(%q) = %d, CountChars(%s) = %d", text, a, raw, b)
		}
	})
}

func FuzzUnquote(f *testing.F) {
	for _, doc := range documents {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		raw = slicesConcat(`"`, raw, `"`)
		if rawjson.Check(raw, 0) == nil {
			testUnquote(t, raw)
		}
	})
}

func TestBoundaries(t *testing.T) {
	for _, raw := range []string{
		`""`, `"a"`, `"abcé日😀"`, `"\n\t\"\\\/"`, `"\\\\\\\\"`, `"\\\\\\\""`, `"\\u00e9\u00e9\\\u00e9"`,
		`"\ud83d\ude00\ud83d\ude00"`, `"\ud800\ud83d\ude00\ude00\ud800"`, `"\\ud83d\ude00"`, `"\ud83d\\ude00"`,
		`"x\u0062b\\b\b\\\b"`, `"uuuu\u0000"`, `"\\\\u0000"`, `"\u005cu0041"`,
	} {
		testBoundaries(t, []byte(raw))
	}
}
