package config

import (
	"errors"
	"fmt"
	"strings"
)

// expansion is the result of expanding the variables in a string.
type expansion struct {
	value   string
	literal bool // a part of the value comes from the file itself, or from a default in it
	errs    []string
	unset   []string // errors about variables that are not set
}

// expand replaces ${VAR}, ${VAR:-default} and ${env:VAR} in a string; $${ is a literal ${. As in a
// shell, a default also replaces an empty variable. Values of variables are never expanded again.
func expand(s string, lookup func(string) (string, bool)) expansion {
	if !strings.Contains(s, "${") {
		return expansion{value: s, literal: s != ""}
	}
	var out strings.Builder
	var e expansion
	variables := 0
	for {
		i := strings.Index(s, "${")
		if i < 0 {
			out.WriteString(s)
			break
		}
		if i > 0 && s[i-1] == '$' {
			out.WriteString(s[:i-1] + "${")
			s = s[i+2:]
			continue
		}
		out.WriteString(s[:i])
		end := strings.IndexByte(s[i:], '}')
		if end < 0 {
			e.errs = append(e.errs, "a ${ without its }; write $${ for a literal ${")
			break
		}
		variables++
		inner := s[i+2 : i+end]
		s = s[i+end+1:]
		value, fallback, err := variable(inner, lookup)
		if unset, ok := errors.AsType[unsetError](err); ok {
			e.unset = append(e.unset, unset.Error())
			continue
		}
		if err != nil {
			e.errs = append(e.errs, err.Error())
			continue
		}
		e.literal = e.literal || fallback != ""
		out.WriteString(value)
	}
	e.value = out.String()
	e.literal = e.literal || variables == 0 && e.value != ""
	return e
}

// variable is the value of what stands between ${ and }, with the default that was written for it.
func variable(inner string, lookup func(string) (string, bool)) (value, fallback string, err error) {
	name, fallback, hasDefault := strings.Cut(inner, ":-")
	if strings.Contains(fallback, "${") {
		return "", "", errors.New("a variable inside the default of another is not supported")
	}
	if fix, ok := editorVariable(name); ok {
		return "", "", fmt.Errorf("${%s} is known to the editor alone; %s", name, fix)
	}
	if name == "userHome" { // what editors call it
		name = "HOME"
	}
	name = strings.TrimPrefix(name, "env:")
	if !isVariableName(name) {
		return "", "", errors.New("what stands between ${ and } is no variable name; write $${ for a literal ${")
	}
	value, set := lookup(name)
	switch {
	case value == "" && hasDefault:
		return fallback, fallback, nil
	case set:
		return value, fallback, nil
	}
	return "", "", unsetError(name)
}

// unsetError names a variable that is not set and has no default.
type unsetError string

func (e unsetError) Error() string {
	return fmt.Sprintf("the environment variable %s is not set; set it, or write ${%s:-default}", string(e), string(e))
}

// editorVariable recognizes variables that only a client can fill in, and returns what to write
// instead.
func editorVariable(name string) (fix string, ok bool) {
	prefix, _, hasPrefix := strings.Cut(name, ":")
	switch {
	case hasPrefix && prefix == "input":
		return "put the value into an environment variable and write ${VAR}", true
	case hasPrefix && (prefix == "config" || prefix == "command"):
		return "write the value out", true
	case hasPrefix && prefix == "workspaceFolder", strings.HasPrefix(name, "workspaceFolder"), name == "workspaceRoot":
		return "write the folder's full path", true
	case name == "pathSeparator", name == "/":
		return "write / or \\", true
	}
	return "", false
}

func isVariableName(s string) bool {
	for i := range len(s) {
		if !isWordByte(s[i]) || i == 0 && s[i] >= '0' && s[i] <= '9' {
			return false
		}
	}
	return s != ""
}
