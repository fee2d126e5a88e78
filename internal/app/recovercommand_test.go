package app

import "testing"

func TestModelsAreToldACommandThatFindsTheOriginal(t *testing.T) {
	for _, c := range []struct{ config, address, want string }{
		{"", "127.0.0.1:8000", "secateur recover"},
		{"", "0.0.0.0:8000", "secateur recover"},
		{"", "127.0.0.1:9000", "secateur recover --url http://127.0.0.1:9000"},
		{"/etc/secateur.toml", "127.0.0.1:8000", "secateur recover --config /etc/secateur.toml"},
		{"/home/a b/it's.toml", ":9000", `secateur recover --config '/home/a b/it'\''s.toml' --url http://127.0.0.1:9000`},
		{"/etc/secateur.toml", "", "secateur recover --config /etc/secateur.toml"},
		{"", "[::1]:8000", "secateur recover --url http://[::1]:8000"},
	} {
		if got := recoverCommand("secateur", c.config, c.address); got != c.want {
			t.Errorf("with %q at %q: %s, want %s", c.config, c.address, got, c.want)
		}
	}
}
