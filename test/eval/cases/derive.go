package cases

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

// WithTask returns a case whose goal includes the task.
func (c *Case) WithTask() *Case {
	d := *c
	if d.Task != "" {
		d.Goal += "\n" + d.Task
	}
	return &d
}

// Window returns a case as a client shows it that shortens long files: some hundred lines around
// one of the needed groups. nil: that is the whole text.
func (c *Case) Window(rng *rand.Rand) *Case {
	lines := strings.SplitAfter(c.Text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	size := 100 + rng.IntN(300)
	if size >= len(lines)*4/5 || len(c.Groups) == 0 {
		return nil
	}
	group := c.Groups[rng.IntN(len(c.Groups))]
	middle := group[0]
	first := max(1, min(len(lines)-size+1, middle-rng.IntN(size)))
	last := first + size - 1
	d := *c
	d.ID = fmt.Sprintf("%s@%d-%d", c.ID, first, last)
	d.Text = strings.Join(lines[first-1:last], "")
	d.Gold, d.Groups, d.Context = shift(c.Gold, first, last), nil, nil
	for _, g := range c.Groups {
		if g = shift(g, first, last); len(g) > 0 {
			d.Groups = append(d.Groups, g)
		}
	}
	if len(d.Gold) == 0 || len(d.Gold)*3 > size {
		return nil
	}
	return &d
}

func shift(numbers []int, first, last int) (out []int) {
	for _, n := range numbers {
		if n >= first && n <= last {
			out = append(out, n-first+1)
		}
	}
	return out
}

// Chatty returns a case whose goal is surrounded by other talk: the goal of another task of the
// same project, said less often.
func (c *Case) Chatty(other *Case, path string) *Case {
	d := *c
	d.ID += "+talk"
	talk := strings.Fields(other.Goal)
	talk = talk[:min(len(talk), 25)]
	d.Goal = path + "\n\nNow let me look at the file to see how it works. " + strings.Join(talk, " ") + "\n" + c.Goal + "\n" + c.Goal
	return &d
}

// Joined returns a case whose text is one of several files in one result.
func (c *Case) Joined(other *Case, before bool) *Case {
	d := *c
	d.ID += "+file"
	n := strings.Count(other.Text, "\n")
	if n > 1200 || strings.Count(c.Text, "\n") > 1200 {
		return nil
	}
	if !before {
		d.Text = c.Text + "\n" + other.Text
		return &d
	}
	d.Text = other.Text + "\n" + c.Text
	move := func(numbers []int) (out []int) {
		for _, x := range numbers {
			out = append(out, x+n+1)
		}
		return out
	}
	d.Gold, d.Context, d.Groups = move(c.Gold), nil, nil
	for _, g := range c.Groups {
		d.Groups = append(d.Groups, move(g))
	}
	return &d
}
