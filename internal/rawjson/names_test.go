package rawjson_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"secateur/internal/rawjson"
)

func TestUnique(t *testing.T) {
	var many, nested strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&many, `"n%d":{"a":1},`, i)
		fmt.Fprintf(&nested, `"n%d":{"n%d":[{"n%d":1}]},`, i, i, i)
	}
	for _, c := range []struct {
		rule, doc string
		offset    int // offset of the second name; -1: none
	}{
		{"different names", `{"a":1,"b":2}`, -1},
		{"twice", `{"a":1,"a":2}`, 7},
		{"twice, not side by side", `{"a":1,"b":2,"a":3}`, 13},
		{"twice, one of them escaped", `{"a":1,"\u0061":2}`, 7},
		{"twice, a pair and its character", `{"\ud83d\ude00":1,"😀":2}`, 18},
		{"the empty name twice", `{"":1,"":2}`, 6},
		{"names that differ in case", `{"a":1,"A":2}`, -1},
		{"different lone surrogates", `{"\ud800":1,"\ud801":2}`, -1},
		{"the same lone surrogate", `{"\ud800":1,"\uD800":2}`, 12},
		{"a lone surrogate and the replacement character", `{"\ud800":1,"�":2}`, -1},
		{"in different objects", `[{"a":1},{"a":1}]`, -1},
		{"in an object and the one inside it", `{"a":{"a":1}}`, -1},
		{"after an object that has it", `{"b":{"a":1},"a":1}`, -1},
		{"deep inside", `[[{"x":{"a":1,"a":2}}]]`, 14},
		{"outside after inside", `{"a":{"b":1},"a":2}`, 13},
		{"many names", `{` + many.String() + `"z":1}`, -1},
		{"the first of many again", `{` + many.String() + `"n0":1}`, 1 + many.Len()},
		{"the last of many again", `{` + many.String() + `"n999":1}`, 1 + many.Len()},
		{"many inside many", `{` + nested.String() + `"z":{` + nested.String() + `"n7":1}}`, 1 + 5 + 2*nested.Len()},
	} {
		t.Run(c.rule, func(t *testing.T) {
			s := rawjson.NewScanner([]byte(c.doc), depth)
			s.Unique = true
			_, err := s.Skip()
			syntax, ok := errors.AsType[*rawjson.SyntaxError](err)
			switch {
			case c.offset < 0 && err != nil:
				t.Errorf("Skip = %v, want no error", err)
			case c.offset >= 0 && (!ok || syntax.Fault != rawjson.DuplicateName || syntax.Offset != c.offset || syntax.Fault.IllFormed()):
				t.Errorf("Skip = %v, want DuplicateName at byte %d", err, c.offset)
			}
		})
	}
}

func FuzzUnique(f *testing.F) {
	for _, doc := range documents {
		f.Add([]byte(doc))
	}
	f.Add([]byte(`{"a":{"a":1,"b":{"c":1,"c":2}}}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		s := rawjson.NewScanner(doc, depth)
		s.Unique = true
		_, err := s.Skip()
		if err == nil {
			err = s.End()
		}
		want := wellFormed(doc, false)
		if (err == nil) == (want == nil) {
			return
		}
		// jsontext treats all lone surrogates as the same name.
		if err == nil && strings.Contains(strings.ToLower(string(doc)), `\ud`) {
			return
		}
		t.Errorf("Skip(%q) = %v, jsontext says %v", doc, err, want)
	})
}
