package main

import (
	"math"
	"strings"
	"unicode"

	"secateur/internal/prune"
	"secateur/test/eval/cases"
)

// measure is the result of one case at one ratio.
type measure struct {
	over                  bool
	pruned, keptNB, bytes float64
	recall, all, any      float64
	ctx, heads, fence     float64 // NaN: the case has none
	cuts, output          float64
	size                  int
}

// sheet is a case's text as the scorer sees it.
type sheet struct {
	lines  []string
	blank  []bool
	fences [][2]int // line numbers from 1, inclusive
	heads  []int
	bytes  int
	filled int
}

func newSheet(c *cases.Case) *sheet {
	s := &sheet{lines: strings.Split(c.Text, "\n")}
	if n := len(s.lines); s.lines[n-1] == "" {
		s.lines = s.lines[:n-1]
	}
	for _, l := range s.lines {
		body := l
		if c.Numbered {
			body = strings.TrimLeft(strings.TrimLeft(strings.TrimLeft(l, " "), "0123456789"), "→\t:")
		}
		blank := strings.TrimFunc(body, unicode.IsSpace) == ""
		s.blank = append(s.blank, blank)
		s.bytes += len(l) + 1
		if !blank {
			s.filled++
		}
	}
	if c.Set == "docs" {
		s.fences = fenceBlocks(s.lines)
		inside := make([]bool, len(s.lines)+1)
		for _, f := range s.fences {
			for i := f[0]; i <= f[1]; i++ {
				inside[i] = true
			}
		}
		for i, l := range s.lines {
			if isHeading(l) && !inside[i+1] {
				s.heads = append(s.heads, i+1)
			}
		}
	}
	return s
}

func isHeading(l string) bool {
	n := len(l) - len(strings.TrimLeft(l, "#"))
	if n < 1 || n > 6 {
		return false
	}
	rest := l[n:]
	body := strings.TrimLeftFunc(rest, unicode.IsSpace)
	return len(body) > 0 && len(body) < len(rest)
}

func fenceMark(l string) string {
	body := strings.TrimLeftFunc(l, unicode.IsSpace)
	if len(l)-len(body) > 12 || body == "" || body[0] != '`' && body[0] != '~' {
		return ""
	}
	n := len(body) - len(strings.TrimLeft(body, body[:1]))
	if n < 3 {
		return ""
	}
	return body[:n]
}

func fenceBlocks(lines []string) (out [][2]int) {
	start, mark := 0, ""
	for i, l := range lines {
		m := fenceMark(l)
		switch {
		case start == 0 && m != "":
			start, mark = i+1, m
		case start > 0 && m != "" && m[0] == mark[0] && len(m) >= len(mark) && strings.TrimFunc(l, unicode.IsSpace) == m:
			out = append(out, [2]int{start, i + 1})
			start = 0
		}
	}
	return out
}

// score judges the kept lines; kept[i] is for line i, from 1.
func (s *sheet) score(c *cases.Case, kept []bool, ratio float64) measure {
	n := len(s.lines)
	m := measure{ctx: math.NaN(), heads: math.NaN(), fence: math.NaN(), output: math.NaN(), size: s.bytes}
	count, bytes, filled := 0, 0, 0
	for i, l := range s.lines {
		if !kept[i+1] {
			if i == 0 || kept[i] {
				m.cuts++
			}
			continue
		}
		count++
		bytes += len(l) + 1
		if !s.blank[i] {
			filled++
		}
	}
	m.over = float64(n-count) > ratio*float64(n)+1e-9
	m.pruned = 1 - float64(count)/float64(n)
	m.keptNB = float64(filled) / float64(max(1, s.filled))
	m.bytes = float64(bytes) / float64(max(1, s.bytes))
	m.recall = share(c.Gold, kept)
	m.all = truth(m.recall == 1)
	for _, g := range c.Groups {
		if share(g, kept) == 1 {
			m.any = 1
		}
	}
	if len(c.Context) > 0 && c.Set != "logs" {
		m.ctx = share(c.Context, kept)
	}
	if len(s.heads) > 0 {
		m.heads = share(s.heads, kept)
	}
	if len(s.fences) > 0 {
		m.fence = 0
		for _, f := range s.fences {
			k := 0
			for i := f[0]; i <= f[1]; i++ {
				if kept[i] {
					k++
				}
			}
			if k > 0 && k < f[1]-f[0]+1 {
				m.fence = 1
			}
		}
	}
	return m
}

// judge scores a plan and the length of its output.
func (s *sheet) judge(c *cases.Case, res prune.Result, ratio float64) measure {
	m := s.score(c, keptLines(res), ratio)
	text, _ := prune.Render(c.Text, res, "prn_00000000000000000000000000", false, true)
	m.output = float64(len(text)) / float64(len(c.Text))
	return m
}

func share(lines []int, kept []bool) float64 {
	k := 0
	for _, l := range lines {
		if kept[l] {
			k++
		}
	}
	return float64(k) / float64(len(lines))
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
