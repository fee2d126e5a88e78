package secret

import (
	"crypto/subtle"
	"fmt"
	"log/slog"
)

// Mask stands in the place of what must not be shown.
const Mask = "[secret]"

// Text is a string that hides itself wherever it is printed. The zero value is an empty secret, which shows as "".
type Text struct{ value string }

// New wraps a value.
func New(value string) Text { return Text{value} }

// Reveal is the value itself.
func (t Text) Reveal() string { return t.value }

// IsZero reports whether there is nothing to hide.
func (t Text) IsZero() bool { return t.value == "" }

// Matches compares in constant time. An empty secret matches nothing.
func (t Text) Matches(other string) bool {
	return t.value != "" && subtle.ConstantTimeCompare([]byte(t.value), []byte(other)) == 1
}

// String hides the value.
func (t Text) String() string {
	if t.value == "" {
		return ""
	}
	return Mask
}

// GoString hides the value from %#v.
func (t Text) GoString() string { return fmt.Sprintf("secret.Text(%q)", t.String()) }

// Format hides the value from every verb.
func (t Text) Format(f fmt.State, verb rune) {
	if verb == 'v' && f.Flag('#') {
		_, _ = f.Write([]byte(t.GoString()))
		return
	}
	_, _ = f.Write([]byte(t.String()))
}

// LogValue hides the value from logs.
func (t Text) LogValue() slog.Value { return slog.StringValue(t.String()) }

// MarshalText hides the value from JSON, TOML and the like.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText takes the value.
func (t *Text) UnmarshalText(b []byte) error {
	t.value = string(b)
	return nil
}
