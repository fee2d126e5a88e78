package config

import (
	"fmt"
	"strings"
)

type envVariable struct{ name, value string }

// parseEnvFile reads NAME=value lines. A leading "export" is skipped. 'Single quotes' keep
// everything; in "double quotes" \n, \r, \t, \" and \\ are escapes. Without quotes, a # after a
// space begins a comment. An error names the line but never shows it.
func parseEnvFile(data []byte) ([]envVariable, error) {
	var out []envVariable
	text := strings.TrimPrefix(string(data), "\ufeff")
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if rest, ok := strings.CutPrefix(line, "export "); ok {
			line = strings.TrimSpace(rest)
		}
		name, value, ok := strings.Cut(line, "=")
		name = strings.TrimSpace(name)
		if !ok || name == "" || strings.ContainsAny(name, " \t\"'") {
			return nil, fmt.Errorf("line %d of the env file is not NAME=value", number)
		}
		value, ok = envValue(strings.TrimSpace(value))
		if !ok {
			return nil, fmt.Errorf("line %d of the env file has a quote that is not closed", number)
		}
		out = append(out, envVariable{name, value})
	}
	return out, nil
}

func envValue(s string) (string, bool) {
	if s == "" {
		return "", true
	}
	quote := s[0]
	if quote != '"' && quote != '\'' {
		if i := strings.Index(s, " #"); i >= 0 {
			s = strings.TrimSpace(s[:i])
		}
		return s, true
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == quote:
			rest := strings.TrimSpace(s[i+1:])
			return b.String(), rest == "" || rest[0] == '#'
		case c == '\\' && quote == '"' && i+1 < len(s):
			i++
			switch s[i] {
			case 'n':
				b.WriteByte('\n')
			case 'r':
				b.WriteByte('\r')
			case 't':
				b.WriteByte('\t')
			case '"', '\\', '$':
				b.WriteByte(s[i])
			default:
				b.WriteString(s[i-1 : i+1])
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}
