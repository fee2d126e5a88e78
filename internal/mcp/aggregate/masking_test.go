package aggregate

import (
	"strings"
	"testing"

	"secateur/internal/mcp/wire"
)

// An answer is not looked through for texts to be cut only if it is known to have none.
func TestMayBeLong(t *testing.T) {
	for _, c := range []struct {
		rule        string
		chars, note int
		want        bool
	}{
		{"nobody has looked", 10, 0, true},
		{"looked for longer ones only", 150, 200, true},
		{"none that long", 10, 100, false},
		{"just not too long", 100, 100, false},
		{"too long", 101, 100, true},
		{"noted, but not too long", 100, 50, false},
		{"noted and too long", 101, 50, true},
	} {
		t.Run(c.rule, func(t *testing.T) {
			m, err := wire.ParseServer([]byte(`{"jsonrpc":"2.0","id":1,"result":{"text":"`+strings.Repeat("x", c.chars)+`"}}`), c.note)
			if err != nil {
				t.Fatal(err)
			}
			if got := mayBeLong(&m, 100); got != c.want {
				t.Errorf("mayBeLong = %v", got)
			}
		})
	}
}
