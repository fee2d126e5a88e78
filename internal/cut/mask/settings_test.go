package mask_test

import (
	"strings"
	"testing"

	"secateur/internal/cut/mask"
)

func TestValidate(t *testing.T) {
	if err := mask.Default().Validate(); err != nil {
		t.Errorf("Default().Validate() = %v", err)
	}
	for _, c := range []struct {
		rule string
		set  func(*mask.Settings)
		want []string // expected text of the error; none: no error
	}{
		{"head and tail as long as allowed", func(s *mask.Settings) { s.HeadChars, s.TailChars = 4000, 0 }, nil},
		{"head and tail too long", func(s *mask.Settings) { s.HeadChars = 2001 }, []string{"head_chars", "2001", "tail_chars 2000", "max_chars 4000"}},
		{"sums past all numbers", func(s *mask.Settings) { s.HeadChars, s.TailChars = 1<<62, 1<<62 }, []string{"head_chars"}},
		{"a negative head", func(s *mask.Settings) { s.HeadChars = -1 }, []string{"head_chars: -1"}},
		{"a negative tail", func(s *mask.Settings) { s.TailChars = -1 }, []string{"tail_chars: -1"}},
		{"no limit", func(s *mask.Settings) { s.MaxChars = 0 }, []string{"max_chars: 0"}},
		{"every mistake", func(s *mask.Settings) { *s = mask.Settings{HeadChars: -1, TailChars: -1} }, []string{"max_chars", "head_chars", "tail_chars", "marker"}},
		{"an empty marker", func(s *mask.Settings) { s.Marker = "" }, []string{"marker: is empty"}},
		{"a marker that can be empty", func(s *mask.Settings) { s.Marker = "{id}{id}" }, []string{"marker: has nothing but {id}"}},
		{"a marker of one number", func(s *mask.Settings) { s.Marker = "{orig}" }, nil},
		{"unknown places", func(s *mask.Settings) { s.Marker = "{orig} {chars} {tool_name}" }, []string{"marker", "{chars}", "{tool_name}", "{orig}, {head}, {tail}, {end}, {id} and {tool}"}},
		{"a place in capitals", func(s *mask.Settings) { s.Marker = "{ORIG}" }, []string{"{ORIG}"}},
		{"other braces", func(s *mask.Settings) { s.Marker = "{} { a } {1} {a-b}" }, nil},
		{"a marker that is not UTF-8", func(s *mask.Settings) { s.Marker = "\xed\xb0\x80" }, []string{"marker: is not valid UTF-8"}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			s := mask.Default()
			c.set(&s)
			err := s.Validate()
			if (err == nil) != (len(c.want) == 0) {
				t.Fatalf("Validate() = %v", err)
			}
			for _, text := range c.want {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("Validate() = %v, want %q in it", err, text)
				}
			}
			if m, newErr := mask.New(s); (newErr == nil) != (err == nil) || (m == nil) == (newErr == nil) {
				t.Errorf("New = %v, %v", m, newErr)
			}
		})
	}
}
