package prune

import "strings"

// importKind recognises imports and the package line of a file; 0: other lines.
func importKind(line string) kind {
	word := firstWord(line)
	rest := strings.TrimLeft(line[len(word):], " \t")
	const found = isStructure | isImport
	next := byte(0)
	if rest != "" {
		next = rest[0]
	}
	named := next != 0 && (classes[next] != sepClass || next == '"' || next == '\'' || next == '{' || next == '*' || next == '(' ||
		next == '<' || next == ':' || next == '\\' || next == '.' || next == '@')
	switch word {
	case "import", "package", "using", "namespace", "include", "require", "require_relative", "require_once", "include_once", "library",
		"alias", "extern", "open", "source", "load", "autoload":
		if !named || next == '(' && word != "import" && word != "library" && word != "require" {
			return 0
		}
		switch word {
		case "package", "namespace":
			return isStructure
		case "extern", "open", "alias", "load", "source":
			if word == "extern" && strings.HasPrefix(rest, "crate") || word == "alias" && isUpper(next) || word == "open" && isUpper(next) ||
				word == "source" && strings.HasSuffix(line, "sh") {
				return found
			}
			return 0
		}
		return found
	case "from":
		if strings.Contains(rest, " import") || next == '\'' || next == '"' {
			return found
		}
	case "use":
		if named && next != '(' && (strings.ContainsAny(rest, ";:\\{,") || !strings.Contains(rest, " ")) {
			return found
		}
	case "pub":
		if strings.HasPrefix(rest, "use ") || strings.HasPrefix(rest, "extern crate") || strings.HasPrefix(rest, "mod ") {
			return found
		}
	case "export":
		if (next == '*' || next == '{') && strings.Contains(rest, "from") {
			return found
		}
	case "const", "let", "var", "local":
		if strings.Contains(rest, "= require(") || strings.Contains(rest, "= await import(") {
			return found
		}
	}
	return 0
}

// isHeader recognises the first line of a definition: class, function, type and similar.
func isHeader(line string, indent uint16) bool {
	rest := line
	words := 0
	for {
		word := firstWord(rest)
		if word == "" {
			break
		}
		after := strings.TrimLeft(strings.TrimLeft(rest, " \t")[len(word):], " \t")
		if k := roleOf(word); k&modifies != 0 && (!strings.HasPrefix(after, "(") || word == "pub") {
			after = skipGroup(after, word)
			rest = after
			words++
			continue
		}
		if roleOf(word)&defines != 0 && opensDefinition(word, after, line) {
			return true
		}
		if word == "CREATE" || word == "create" && words == 0 && sqlObject(after) {
			return sqlObject(after)
		}
		break
	}
	if words > 0 && (strings.HasPrefix(rest, "class") || rest == "") {
		return true
	}
	return isAssignedFunction(line) || isSignature(line, indent) || isCFunction(line, rest, indent, words)
}

// skipGroup skips a modifier's arguments: pub(crate), extern "C", template <…>.
func skipGroup(s, modifier string) string {
	if s == "" {
		return s
	}
	switch {
	case modifier == "pub" && s[0] == '(':
		if _, after, ok := strings.Cut(s, ")"); ok {
			return strings.TrimLeft(after, " \t")
		}
	case modifier == "extern" && s[0] == '"':
		if i := strings.IndexByte(s[1:], '"'); i >= 0 {
			return strings.TrimLeft(s[i+2:], " \t")
		}
	case modifier == "template" && s[0] == '<':
		if i := strings.LastIndexByte(s, '>'); i >= 0 {
			return strings.TrimLeft(s[i+1:], " \t")
		}
	}
	return s
}

// opensDefinition reports whether a definition keyword is used as one: a name follows, or what may
// replace it.
func opensDefinition(word, after, line string) bool {
	if after == "" {
		return word == "constructor" || word == "impl" || word == "class"
	}
	c := after[0]
	named := classes[c] != sepClass && classes[c] != digitClass
	ends := line[len(line)-1]
	switch word {
	case "fn", "def", "defp", "defmacro", "defmodule", "class", "interface", "trait", "protocol", "extension", "mixin", "sub", "procedure",
		"defprotocol", "defimpl", "namespace", "mod", "newtype", "typealias":
		return named || c == '<' || c == '{' || c == '*' || c == '&'
	case "func":
		return named || c == '('
	case "function":
		return named || c == '*' || c == '('
	case "impl":
		return named || c == '<' || c == '&' || c == '!'
	case "struct", "enum", "union":
		return (named || c == '{') && ends != ';' && !strings.Contains(line, ") {}") || named && strings.Contains(after, "(") && ends == ';'
	case "type":
		return named && (strings.Contains(after, "=") || strings.Contains(after, "{") || strings.Count(after, " ") >= 1)
	case "typedef":
		return true
	case "fun", "proc", "macro", "annotation", "delegate", "subroutine", "actor":
		return named
	case "macro_rules":
		return c == '!'
	case "module":
		return (named || c == '"' || c == '\'') && ends != ';' && strings.IndexByte(after, '=') < 0
	case "object", "record", "instance", "program", "unit", "service", "message", "rpc", "contract", "data":
		return named && !strings.HasPrefix(after, "=") && ends != ';' && strings.IndexByte(after, '=') < 0
	case "constructor", "init", "deinit":
		return c == '(' || c == '{' || c == '?' || c == '<'
	case "test", "describe":
		return c == '"' || c == '\''
	case "defstruct":
		return true
	}
	return false
}

func sqlObject(after string) bool {
	for word := range strings.FieldsSeq(after) {
		switch strings.ToLower(word) {
		case "or", "replace", "unique", "temp", "temporary", "global", "external", "materialized", "recursive", "algorithm", "definer":
			continue
		case "table", "view", "function", "procedure", "index", "trigger", "type", "schema", "database", "sequence", "extension", "role":
			return true
		}
		return false
	}
	return false
}

// isAssignedFunction recognises a function that gets its name by assignment.
func isAssignedFunction(line string) bool {
	if i := strings.Index(line, "function"); i > 1 {
		before := strings.TrimRight(line[:i], " \t")
		before = strings.TrimSuffix(before, "async")
		before = strings.TrimRight(before, " \t")
		if before == "" {
			return false
		}
		last := before[len(before)-1]
		if (last == '=' || last == ':' || strings.HasSuffix(before, "<-")) && strings.Count(before, "(") == 0 {
			return true
		}
	}
	if i := strings.Index(line, "=>"); i > 0 && strings.HasSuffix(line, "{") {
		switch firstWord(line) {
		case "export", "const", "let", "var":
			return strings.Contains(line[:i], "=")
		}
	}
	return false
}

// isSignature recognises a type signature before a definition, as in Haskell.
func isSignature(line string, indent uint16) bool {
	if indent != 0 {
		return false
	}
	word := firstWord(line)
	return word != "" && strings.HasPrefix(line[len(word):], " :: ")
}

// isCFunction recognises "type name(…" and "name(…) {" in languages without a keyword for
// functions.
func isCFunction(line, rest string, indent uint16, modifiers int) bool {
	ends := line[len(line)-1]
	paren := strings.IndexByte(rest, '(')
	if paren <= 0 || ends == ';' || classes[rest[0]] == sepClass && rest[0] != '~' && rest[0] != '<' && rest[0] != '*' {
		return false
	}
	before := rest[:paren]
	if strings.ContainsAny(before, "=.;\"'?!+|{}$@") || strings.Contains(before, "->") || roleOf(firstWord(rest))&calls != 0 {
		return false
	}
	names := identifiers(before)
	if names == 0 {
		return false
	}
	switch {
	case ends == '{':
		return balanced(rest[paren:]) || names >= 2
	case names >= 2 || modifiers > 0:
		return indent == 0 && ends != '.' || modifiers > 0 && ends != ','
	}
	return false
}

// identifiers counts the words of s.
func identifiers(s string) int {
	n, in := 0, false
	for i := range len(s) {
		word := classes[s[i]] != sepClass
		if word && !in {
			n++
		}
		in = word
	}
	return n
}

// balanced reports whether the round brackets of s are balanced.
func balanced(s string) bool {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			depth--
		}
	}
	return depth == 0
}

func isUpper(c byte) bool { return classes[c] == upperClass }
