package rawjson_test

import (
	"errors"
	"slices"
	"testing"

	"secateur/internal/rawjson"
)

// items steps through an array and skips its values.
func items(doc string, maxDepth int) (values []string, err error) {
	s := rawjson.NewScanner([]byte(doc), maxDepth)
	if err := s.EnterList(); err != nil {
		return nil, err
	}
	for {
		more, err := s.NextItem()
		if err != nil {
			return nil, err
		}
		if !more {
			return values, s.End()
		}
		value, err := s.Skip()
		if err != nil {
			return nil, err
		}
		values = append(values, string(value))
	}
}

func TestNextItemStepsThroughAnArray(t *testing.T) {
	for _, c := range []struct {
		rule, doc string
		want      []string
		fault     rawjson.Fault
		offset    int
	}{
		{"values of every kind", ` [ 1 , "a" ,[2],{"b":3} , null ] `, []string{"1", `"a"`, "[2]", `{"b":3}`, "null"}, 0, 0},
		{"none", "[ ]", nil, 0, 0},
		{"no document", " ", nil, rawjson.Truncated, 1},
		{"no array", "{}", nil, rawjson.NotArray, 0},
		{"no end", "[1", nil, rawjson.Truncated, 2},
		{"no value", "[", nil, rawjson.Truncated, 1},
		{"no comma", "[1 2]", nil, rawjson.NoComma, 3},
		{"the end of an object", "[1}", nil, rawjson.NoComma, 2},
		{"a comma and nothing", "[1,]", nil, rawjson.NoValue, 3},
		{"a comma first", "[,1]", nil, rawjson.NoValue, 1},
		{"something after it", "[1] 2", nil, rawjson.TrailingData, 4},
		{"too deep", "[[[]]]", nil, rawjson.TooDeep, 2},
	} {
		t.Run(c.rule, func(t *testing.T) {
			got, err := items(c.doc, 2)
			wrong, isFault := errors.AsType[*rawjson.SyntaxError](err)
			if c.fault == 0 && (err != nil || !slices.Equal(got, c.want)) {
				t.Errorf("values %q, %v, want %q", got, err, c.want)
			}
			if c.fault != 0 && (!isFault || wrong.Fault != c.fault || wrong.Offset != c.offset) {
				t.Errorf("error %v, want %v at %d", err, c.fault, c.offset)
			}
			// Checking the document as a whole gives the same result.
			if c.fault != rawjson.NotArray {
				if other, _ := errors.AsType[*rawjson.SyntaxError](rawjson.Check([]byte(c.doc), 2)); (other == nil) != (wrong == nil) || other != nil && *other != *wrong {
					t.Errorf("checked whole: %v, want %v", other, wrong)
				}
			}
		})
	}
	if s := rawjson.NewScanner([]byte("[]"), 0); s.EnterList() == nil {
		t.Error("an array was entered past the depth")
	}
}

func TestSkipStringCountsCharacters(t *testing.T) {
	for _, c := range []struct {
		rule, doc string
		chars     int
		fault     rawjson.Fault
	}{
		{"plain", ` "abc"`, 3, 0},
		{"escapes and all lengths", `"\n\u00e9\ud83d\ude00é€😀"`, 6, 0},
		{"none", `""`, 0, 0},
		{"a number", "1", 0, rawjson.NotString},
		{"nothing", " ", 0, rawjson.Truncated},
		{"half", `"abc`, 0, rawjson.Truncated},
		{"a control character", "\"a\n\"", 0, rawjson.ControlChar},
	} {
		s := rawjson.NewScanner([]byte(c.doc), depth)
		raw, chars, err := s.SkipString()
		wrong, _ := errors.AsType[*rawjson.SyntaxError](err)
		switch {
		case c.fault == 0 && (err != nil || chars != c.chars || string(raw) != string(rawjson.Trim([]byte(c.doc))) || s.Pos() != len(c.doc)):
			t.Errorf("%s: SkipString = %s, %d, %v", c.rule, raw, chars, err)
		case c.fault != 0 && (wrong == nil || wrong.Fault != c.fault):
			t.Errorf("%s: error %v, want %v", c.rule, err, c.fault)
		}
	}
}

func TestJumpGoesOnBehindAnItem(t *testing.T) {
	doc := []byte(`{"a":[{"x":1},{"y":2} , {"z":3}],"b":4}`)
	s := rawjson.NewScanner(doc, depth)
	_ = s.Enter()
	_, _ = s.Next()
	if err := s.EnterList(); err != nil {
		t.Fatal(err)
	}
	s.Jump(len(`{"a":[{"x":1},{"y":2}`))
	if more, err := s.NextItem(); !more || err != nil {
		t.Fatalf("NextItem = %v, %v", more, err)
	}
	if value, err := s.Skip(); string(value) != `{"z":3}` || err != nil {
		t.Errorf("value %s, %v", value, err)
	}
	if more, err := s.NextItem(); more || err != nil {
		t.Errorf("NextItem = %v, %v at the end", more, err)
	}
	if name, err := s.Next(); string(name) != `"b"` || err != nil {
		t.Errorf("Next = %s, %v", name, err)
	}
}
