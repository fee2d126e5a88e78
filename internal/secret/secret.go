package secret

import (
	"crypto/subtle"
	"fmt"
	"log/slog"
)

// Mask replaces a value that must not be shown.
const Mask = "[secret]"

// Text is a string that is masked wherever it is printed. The zero value is an empty secret, shown
// as "".
type Text struct{ value string }

// New wraps a value.
func New(value string) Text { return Text{value} }

// Reveal returns the value itself.
func (t Text) Reveal() string { return t.value }

// IsZero reports whether the secret is empty.
func (t Text) IsZero() bool { return t.value == "" }

// Matches compares in constant time. An empty secret matches nothing.
func (t Text) Matches(other string) bool {
	return t.value != "" && subtle.ConstantTimeCompare([]byte(t.value), []byte(other)) == 1
}

// String masks the value.
func (t Text) String() string {
	if t.value == "" {
		return ""
	}
	return Mask
}

// GoString masks the value for %#v.
func (t Text) GoString() string { return fmt.Sprintf("secret.Text(%q)", t.String()) }

// Format masks the value for every verb.
func (t Text) Format(f fmt.State, verb rune) {
	if verb == 'v' && f.Flag('#') {
		_, _ = f.Write([]byte(t.GoString()))
		return
	}
	_, _ = f.Write([]byte(t.String()))
}

// LogValue masks the value in logs.
func (t Text) LogValue() slog.Value { return slog.StringValue(t.String()) }

// MarshalText masks the value in JSON, TOML and the like.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText sets the value.
func (t *Text) UnmarshalText(b []byte) error {
	t.value = string(b)
	return nil
}
