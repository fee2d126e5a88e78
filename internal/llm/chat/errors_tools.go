package chat

import "strings"

// toolError recognizes the ways in which tools announce a failure without an error word at the
// start. Each is one program's own form, which no other text has.
func toolError(line string) bool {
	switch line[0] {
	case '[':
		rest, ok := cutPrefixFold(line, "[error] ")
		return ok && strings.TrimSpace(rest) != ""
	case '*':
		name, said, ok := strings.Cut(strings.TrimPrefix(line, "** ("), ") ") // Elixir
		return ok && said != "" && strings.HasPrefix(line, "** (") && endsInError(name) && !strings.Contains(name, " ")
	case 'A':
		return strings.HasPrefix(line, "An error occurred (") && strings.Contains(line, ") when calling the ")
	case 'C':
		return strings.HasPrefix(line, "CMake Error at ") || strings.HasPrefix(line, "CMake Error in ") || strings.HasPrefix(line, "CMake Error: ")
	case 'E':
		// Pytest.
		return strings.HasPrefix(line, "E   ") && startsWithName(strings.TrimLeft(line[1:], " "))
	case 'P':
		return strings.HasPrefix(line, "PHP Fatal error: ") || strings.HasPrefix(line, "PHP Parse error: ")
	case 'U', 'u':
		return unhandled(line)
	case 'n':
		return strings.HasPrefix(line, "npm ERR! ") || strings.HasPrefix(line, "npm error ")
	case 's':
		if strings.TrimRight(line, "\r") == "stack traceback:" { // Lua
			return true
		}
	case 'm':
		if strings.HasPrefix(line, "make") {
			job, _, ok := strings.Cut(line[len("make"):], ": *** ")
			if ok && (job == "" || job[0] == '[' && !strings.Contains(job, " ")) {
				return true
			}
		}
	case 0xe2: // the first byte of both signs
		if boxed, ok := strings.CutPrefix(line, "│ Error: "); ok { // Terraform
			return boxed != ""
		}
		return strings.HasPrefix(line, "✘ [ERROR] ") // esbuild
	}
	return rubyError(line)
}

// unhandled recognizes a runtime's report of an uncaught error.
func unhandled(line string) bool {
	if rest, ok := strings.CutPrefix(line, "Uncaught "); ok {
		rest = strings.TrimPrefix(rest, "(in promise) ")
		return startsWithName(rest)
	}
	rest, ok := cutPrefixFold(line, "unhandled exception")
	return ok && (strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ":"))
}

// startsWithName reports whether s starts with an error's name and a colon.
func startsWithName(s string) bool {
	return namesError(s) || strings.HasPrefix(s, "Error: ") || strings.HasPrefix(s, "Exception: ")
}

// rubyError finds "main.rb:3:in 'first': what went wrong (NoMethodError)".
func rubyError(line string) bool {
	line = strings.TrimRight(line, "\r")
	if !strings.HasSuffix(line, "Error)") {
		return false
	}
	place, method, ok := strings.Cut(line, ":in ")
	if !ok || method[0] != '`' && method[0] != '\'' || strings.Contains(place, " ") {
		return false
	}
	// More colons: a search found it in a log.
	return strings.Count(place, ":") == 1 || strings.HasPrefix(place, "<")
}

func cutPrefixFold(s, prefix string) (rest string, ok bool) {
	if !hasPrefixFold(s, prefix) {
		return "", false
	}
	return s[len(prefix):], true
}
