package rawjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"secateur/internal/rawjson"
)

const depth = 10000

func TestWellFormed(t *testing.T) {
	for name, doc := range map[string]string{
		"object":                            `{"a":1,"b":[true,false,null],"c":{"d":"e"}}`,
		"empty containers":                  `[{},[],{"a":{}},{"a":[]}]`,
		"white space everywhere":            " \t\r\n{ \t\r\n\"a\" \t\r\n: \t\r\n[ \t\r\n1 \t\r\n, \t\r\n2 \t\r\n] \t\r\n} \t\r\n",
		"a number alone":                    `12345678901234567890`,
		"numbers of all forms":              `[0,-0,1.5,-1.5,1e3,1E+3,1e-3,0.0e0,123456.789e+10]`,
		"a string alone":                    `"a"`,
		"the empty string":                  `""`,
		"literals alone":                    `null`,
		"all simple escapes":                `"\"\\\/\b\f\n\r\t"`,
		"hexadecimal digits in either case": `"\u00e9\u00E9\uABCD\uabcd"`,
		"an escaped pair":                   `"\ud83d\ude00\uD83D\uDE00"`,
		"an escaped surrogate alone":        `["\ud800","\udc00","\udc00\ud800","\ud800x","\ud800\n","\ud800\ud83d\ude00"]`,
		"an escaped zero":                   `"\u0000"`,
		"DEL in a string":                   "\"\x7f\"",
		"UTF-8 of all lengths":              `"é߿ࠀ퟿�𐀀􏿿"`,
		"duplicate names":                   `{"a":1,"a":2}`,
		"the empty name":                    `{"":1}`,
		"a string of exactly eight bytes":   `"12345678"`,
		"a multibyte character at the end":  `"1234567é"`,
	} {
		t.Run(name, func(t *testing.T) {
			if err := rawjson.Check([]byte(doc), depth); err != nil {
				t.Errorf("Check(%q) = %v", doc, err)
			}
		})
	}
}

func TestIllFormed(t *testing.T) {
	for _, c := range []struct {
		rule, doc string
		fault     rawjson.Fault
		offset    int
	}{
		{"nothing", ``, rawjson.Truncated, 0},
		{"white space alone", " \n", rawjson.Truncated, 2},
		{"truncated object", `{"a":1`, rawjson.Truncated, 6},
		{"truncated after the brace", `{`, rawjson.Truncated, 1},
		{"truncated after a name", `{"a"`, rawjson.Truncated, 4},
		{"truncated after a colon", `{"a":`, rawjson.Truncated, 5},
		{"truncated after a comma", `{"a":1,`, rawjson.Truncated, 7},
		{"truncated array", `[1,`, rawjson.Truncated, 3},
		{"truncated string", `"abc`, rawjson.Truncated, 4},
		{"truncated string of many bytes", `"0123456789abcdef`, rawjson.Truncated, 17},
		{"truncated escape", `"\`, rawjson.Truncated, 1},
		{"truncated hexadecimal escape", `"\u00e`, rawjson.Truncated, 1},
		{"truncated literal", `tru`, rawjson.Truncated, 3},
		{"truncated number", `-`, rawjson.Truncated, 1},
		{"truncated fraction", `1.`, rawjson.Truncated, 2},
		{"truncated exponent", `1e`, rawjson.Truncated, 2},
		{"truncated UTF-8", "\"\xe2\x82", rawjson.BadUTF8, 1},
		{"trailing garbage", `{} x`, rawjson.TrailingData, 3},
		{"two documents", `{}{}`, rawjson.TrailingData, 2},
		{"a closing bracket too many", `[]]`, rawjson.TrailingData, 2},
		{"a byte order mark", "\ufeff{}", rawjson.NoValue, 0},
		{"NaN", `NaN`, rawjson.NoValue, 0},
		{"Infinity", `[Infinity]`, rawjson.NoValue, 1},
		{"a literal in capitals", `True`, rawjson.NoValue, 0},
		{"a misspelt literal", `nulL`, rawjson.BadLiteral, 3},
		{"a longer literal", `nullx`, rawjson.TrailingData, 4},
		{"a leading zero", `01`, rawjson.TrailingData, 1},
		{"a leading zero in an array", `[01]`, rawjson.NoComma, 2},
		{"a leading plus", `+1`, rawjson.NoValue, 0},
		{"a leading point", `.5`, rawjson.NoValue, 0},
		{"a minus alone", `[-]`, rawjson.BadNumber, 2},
		{"a point without digits", `[1.]`, rawjson.BadNumber, 3},
		{"an exponent without digits", `[1e+]`, rawjson.BadNumber, 4},
		{"a hexadecimal number", `0x10`, rawjson.TrailingData, 1},
		{"an unknown escape", `"\x41"`, rawjson.BadEscape, 1},
		{"an escape of three digits", `"\u12g4"`, rawjson.BadEscape, 1},
		{"a capital U", `"\U0041"`, rawjson.BadEscape, 1},
		{"a bad escape behind a high surrogate", `"\ud800\x"`, rawjson.BadEscape, 7},
		{"a control character", "\"a\nb\"", rawjson.ControlChar, 2},
		{"a zero byte", "\"1234567\x00\"", rawjson.ControlChar, 8},
		{"a lone continuation byte", "\"\x80\"", rawjson.BadUTF8, 1},
		{"a missing continuation byte", "\"\xc3\"", rawjson.BadUTF8, 1},
		{"an overlong form of two bytes", "\"\xc0\xaf\"", rawjson.BadUTF8, 1},
		{"an overlong form of three bytes", "\"\xe0\x80\xaf\"", rawjson.BadUTF8, 1},
		{"an overlong form of four bytes", "\"\xf0\x80\x80\xaf\"", rawjson.BadUTF8, 1},
		{"a surrogate in UTF-8", "\"\xed\xa0\x80\"", rawjson.BadUTF8, 1},
		{"a code point past the last", "\"\xf4\x90\x80\x80\"", rawjson.BadUTF8, 1},
		{"a byte that is never UTF-8", "\"\xff\"", rawjson.BadUTF8, 1},
		{"invalid UTF-8 in a name", "{\"\xff\":1}", rawjson.BadUTF8, 2},
		{"single quotes", `{'a':1}`, rawjson.NoName, 1},
		{"a name without quotes", `{a:1}`, rawjson.NoName, 1},
		{"a number as a name", `{1:1}`, rawjson.NoName, 1},
		{"a trailing comma in an object", `{"a":1,}`, rawjson.NoName, 7},
		{"a trailing comma in an array", `[1,]`, rawjson.NoValue, 3},
		{"a comma alone", `[,]`, rawjson.NoValue, 1},
		{"two commas", `[1,,2]`, rawjson.NoValue, 3},
		{"a missing comma", `[1 2]`, rawjson.NoComma, 3},
		{"a missing colon", `{"a" 1}`, rawjson.NoColon, 5},
		{"a missing value", `{"a":}`, rawjson.NoValue, 5},
		{"an array closed as an object", `[1}`, rawjson.NoComma, 2},
		{"an object closed as an array", `{"a":1]`, rawjson.NoComma, 6},
		{"a comment", `[1/**/]`, rawjson.NoComma, 2},
		{"a form feed as white space", "[\f1]", rawjson.NoValue, 1},
	} {
		t.Run(c.rule, func(t *testing.T) {
			err := rawjson.Check([]byte(c.doc), depth)
			syntax, ok := errors.AsType[*rawjson.SyntaxError](err)
			if !ok || syntax.Fault != c.fault || syntax.Offset != c.offset || !syntax.Fault.IllFormed() {
				t.Errorf("Check(%q) = %v, want %v at byte %d", c.doc, err, c.fault, c.offset)
			}
		})
	}
}

func TestDepthIsBounded(t *testing.T) {
	for _, c := range []struct{ open, value, shut string }{{"[", "", "]"}, {`{"a":`, "1", "}"}, {`[{"a":`, "1", "}]"}} {
		for _, levels := range []int{1, 63, 64, 65, 128, 5000} {
			doc := []byte(strings.Repeat(c.open, levels) + c.value + strings.Repeat(c.shut, levels))
			nested := levels * strings.Count(c.open, "[")
			nested += levels * strings.Count(c.open, "{")
			if err := rawjson.Check(doc, nested); err != nil {
				t.Errorf("Check of %d times %s with room for %d = %v", levels, c.open, nested, err)
			}
			err := rawjson.Check(doc, nested-1)
			if syntax, ok := errors.AsType[*rawjson.SyntaxError](err); !ok || syntax.Fault != rawjson.TooDeep || syntax.Fault.IllFormed() {
				t.Errorf("Check of %d times %s with room for %d = %v, want TooDeep", levels, c.open, nested-1, err)
			}
		}
	}
}

func TestEveryPrefixIsAnError(t *testing.T) {
	doc := []byte(`{"a":[1.5e3,true,null,"x\u00e9\ud83d\ude00é日𝄞\n"],"b":{"c":false}}`)
	for n := range doc {
		if err := rawjson.Check(doc[:n], depth); err == nil {
			t.Errorf("Check(%q) = nil", doc[:n])
		}
	}
}

// Strings are read in words of eight bytes. So the test puts every byte at every place of a word.
func TestEveryByteAtEveryPlace(t *testing.T) {
	for place := range 20 {
		for c := range 256 {
			doc := []byte(`"` + strings.Repeat("a", place) + string([]byte{byte(c)}) + strings.Repeat("b", 19) + `"`)
			err := rawjson.Check(doc, depth)
			if want := json.Valid(doc) && utf8.Valid(doc); (err == nil) != want {
				t.Errorf("Check(%q) = %v, want valid: %t", doc, err, want)
			}
		}
	}
}

// All sequences of a lead byte and up to three more at the borders of the ranges.
func TestUTF8AgreesWithTheStandardLibrary(t *testing.T) {
	borders := []byte{0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc2, 0xe0, 0xff}
	for lead := 0x80; lead < 0x100; lead++ {
		for _, b1 := range borders {
			for _, b2 := range borders {
				for _, b3 := range borders {
					for n := 1; n <= 4; n++ {
						doc := slicesConcat(`"`, []byte{byte(lead), b1, b2, b3}[:n], `"`)
						err := rawjson.Check(doc, depth)
						if want := json.Valid(doc) && utf8.Valid(doc); (err == nil) != want {
							t.Fatalf("Check(%q) = %v, want valid: %t", doc, err, want)
						}
					}
				}
			}
		}
	}
}

func slicesConcat(before string, middle []byte, after string) []byte {
	return append(append([]byte(before), middle...), after...)
}

// documents are seeds for fuzzing.
var documents = []string{
	`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"a\nb"}],"isError":false}}`,
	`[0,-0,1.5,1e3,12345678901234567890,true,false,null,"",{},[]]`,
	`{"a":"\ud83d\ude00\ud800\udc00\ud800","\u0061":1,"é":"日本語𝄞"}`,
	`"\\\\\\\"\/\b\f\n\r\t\u0000"`,
	` [ 1 , { "a" : [ ] } ] `,
	"\"\xed\xa0\x80\"", `{"a":1,}`, `[1,]`, `01`, `"\x"`, "\"\x01\"", `{}{}`, `nul`, `-`, `1.`,
}

func FuzzCheck(f *testing.F) {
	for _, doc := range documents {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		err := rawjson.Check(doc, depth)
		if syntax, ok := errors.AsType[*rawjson.SyntaxError](err); ok && (syntax.Offset < 0 || syntax.Offset > len(doc)) {
			t.Fatalf("Check(%q) = %v: no such offset", doc, err)
		}
		if want := json.Valid(doc) && utf8.Valid(doc); (err == nil) != want {
			t.Errorf("Check(%q) = %v, encoding/json says %t", doc, err, want)
		}
		if want := wellFormed(doc, true); (err == nil) != (want == nil) {
			t.Errorf("Check(%q) = %v, jsontext says %v", doc, err, want)
		}
	})
}

// wellFormed checks a document with jsontext. It allows invalid UTF-8, because only then jsontext
// accepts escaped lone surrogates. The bytes are checked separately.
func wellFormed(doc []byte, duplicates bool) error {
	if !utf8.Valid(doc) {
		return errors.New("invalid UTF-8")
	}
	d := jsontext.NewDecoder(bytes.NewReader(doc), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(duplicates))
	if _, err := d.ReadValue(); err != nil {
		return err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.New("more than one value")
	}
	return nil
}
