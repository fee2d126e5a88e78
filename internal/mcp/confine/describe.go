package confine

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Describe says in a few lines what a confined command may touch.
func (p *Plan) Describe(home string) []string {
	by := map[Rights][]string{}
	for _, r := range p.Rules {
		if slices.Contains(systemPrograms, r.Path) || r.Rights == Device || isSystemFile(r.Path) || isHomeProgram(r.Path, home) {
			continue
		}
		path := r.Path
		if home != "" && isBelow(path, home) {
			path = "~" + strings.TrimPrefix(path, home)
		}
		by[r.Rights] = append(by[r.Rights], path)
	}
	lines := []string{"reads system directories and installed programs"}
	if paths := slices.Concat(by[Execute], by[Read]); len(paths) > 0 {
		lines[0] += ", " + strings.Join(paths, ", ")
	}
	return append(lines, "writes "+strings.Join(slices.Concat(by[Write], by[Both]), ", "), NetText(p.Net), "nothing else below "+home)
}

func isSystemFile(path string) bool {
	return slices.ContainsFunc(slices.Concat(systemFiles, []string{"/etc", "/run"}), func(dir string) bool { return isBelow(path, dir) }) || isBelow(path, "/usr")
}

func isHomeProgram(path, home string) bool {
	rest, err := filepath.Rel(home, path)
	return home != "" && err == nil && slices.Contains(homePrograms, rest)
}

// NetText describes a network in words.
func NetText(n Net) string {
	switch {
	case n.Any():
		return "connects anywhere"
	case len(n) == 0:
		return "has no network"
	}
	ports := make([]string, len(n))
	for i, port := range n {
		ports[i] = strconv.Itoa(port)
	}
	return fmt.Sprintf("connects to TCP ports %s, and by UDP", strings.Join(ports, ", "))
}

// Text describes settings in a word or two, for lists.
func (s *Settings) Text() string {
	switch {
	case !s.On():
		return ProfileOff
	case s.Profile != "":
		return s.Profile
	default:
		return "table"
	}
}
