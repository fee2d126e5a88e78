package rawjson_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"secateur/internal/rawjson"
)

func TestNextStepsThroughAnObject(t *testing.T) {
	s := rawjson.NewScanner([]byte(` { "a" : [1, 2] , "b":{"c":"d","e":{}}, "f" : null } `), depth)
	var seen []string
	var walk func()
	walk = func() {
		if err := s.Enter(); err != nil {
			t.Fatal(err)
		}
		for {
			name, err := s.Next()
			if err != nil {
				t.Fatal(err)
			}
			if name == nil {
				seen = append(seen, "end")
				return
			}
			if s.Peek() == '{' {
				seen = append(seen, string(name))
				walk()
				continue
			}
			value, err := s.Skip()
			if err != nil {
				t.Fatal(err)
			}
			seen = append(seen, string(name)+"="+string(value))
		}
	}
	walk()
	if err := s.End(); err != nil {
		t.Error(err)
	}
	want := []string{`"a"=[1, 2]`, `"b"`, `"c"="d"`, `"e"`, "end", "end", `"f"=null`, "end"}
	if !slices.Equal(seen, want) {
		t.Errorf("seen %q, want %q", seen, want)
	}
}

func TestEnteredObjectsAreChecked(t *testing.T) {
	for _, c := range []struct {
		rule, doc string
		fault     rawjson.Fault
	}{
		{"an empty object", `{}`, 0},
		{"no object", `[]`, rawjson.NotObject},
		{"no document", ` `, rawjson.Truncated},
		{"too deep", `{"a":{"b":{"c":{}}}}`, rawjson.TooDeep},
		{"too deep in a value", `{"a":[[[]]]}`, rawjson.TooDeep},
		{"a name twice", `{"a":1,"b":2,"\u0061":3}`, rawjson.DuplicateName},
		{"a name twice in a value", `{"a":[{"b":1,"b":2}]}`, 0},
		{"a leading comma", `{,"a":1}`, rawjson.NoName},
		{"a trailing comma", `{"a":1,}`, rawjson.NoName},
		{"a missing comma", `{"a":1"b":2}`, rawjson.NoComma},
		{"a missing colon", `{"a"1}`, rawjson.NoColon},
		{"cut short", `{"a":1`, rawjson.Truncated},
		{"cut short after a comma", `{"a":1,`, rawjson.Truncated},
		{"more behind it", `{} 1`, rawjson.TrailingData},
		{"wrong bracket", `{"a":1]`, rawjson.NoComma},
	} {
		t.Run(c.rule, func(t *testing.T) {
			s := rawjson.NewScanner([]byte(c.doc), 3)
			err := enterAll(&s)
			if err == nil {
				err = s.End()
			}
			var fault rawjson.Fault
			if syntax, ok := errors.AsType[*rawjson.SyntaxError](err); ok {
				fault = syntax.Fault
			}
			if fault != c.fault {
				t.Errorf("%s: %v, want %v", c.doc, err, c.fault)
			}
		})
	}
}

// enterAll reads the next value, an object, and enters every member that is an object.
func enterAll(s *rawjson.Scanner) error {
	if err := s.Enter(); err != nil {
		return err
	}
	for {
		name, err := s.Next()
		if err != nil || name == nil {
			return err
		}
		if s.Peek() == '{' {
			err = enterAll(s)
		} else {
			_, err = s.Skip()
		}
		if err != nil {
			return err
		}
	}
}

func FuzzEnter(f *testing.F) {
	for _, doc := range documents {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		s := rawjson.NewScanner(doc, depth)
		s.Unique = true
		err := enterAll(&s)
		if err == nil {
			err = s.End()
		}
		whole := rawjson.NewScanner(doc, depth)
		whole.Unique = true
		_, want := whole.Skip()
		if want == nil {
			want = whole.End()
		}
		if syntax, ok := errors.AsType[*rawjson.SyntaxError](err); ok && syntax.Fault == rawjson.NotObject {
			return
		}
		if (err == nil) != (want == nil) || err != nil && err.Error() != want.Error() {
			t.Errorf("%q member by member: %v, as a whole: %v", doc, err, want)
		}
	})
}

func TestLongStrings(t *testing.T) {
	long := strings.Repeat("x", 11)
	doc := []byte(`{"short":"0123456789","` + long + `":1,"k\u0065y" : "` + long + `","list":["` + long + `",{"in":["a"],"deep":"` + long + `"}],"é":"éééééééééé"}`)
	strs, err := rawjson.LongStrings(doc, depth, 10)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range strs {
		if s.Chars != 11 {
			t.Errorf("%s has %d characters, want 11", doc[s.Start:s.End], s.Chars)
		}
		got = append(got, string(doc[s.Start-3:s.End]))
	}
	quoted := `"` + long + `"`
	if want := []string{` : ` + quoted, `":[` + quoted, `p":` + quoted}; !slices.Equal(got, want) {
		t.Errorf("LongStrings = %q, want %q", got, want)
	}
}

func TestScanningDoesNotAllocate(t *testing.T) {
	doc := []byte(`{"a":[` + strings.Repeat(`{"b":"c\n","d":[1,2.5,true],"e":"é"},`, 1000) + `null]}`)
	if n := testing.AllocsPerRun(10, func() {
		if err := rawjson.Check(doc, depth); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("Check allocates %v times", n)
	}
}

// A run of backslashes must not be counted again for every character.
func TestTailStartIsLinear(t *testing.T) {
	raw := []byte(`"` + strings.Repeat(`\\`, 1<<20) + strings.Repeat(`u1234`, 10000) + `"`)
	chars := rawjson.CountChars(raw)
	if got := rawjson.TailStart(raw, chars); got != 1 {
		t.Errorf("TailStart = %d, want 1", got)
	}
}
