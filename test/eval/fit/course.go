package fit

import (
	"math/rand/v2"
	"slices"

	"secateur/test/eval/cases"
)

// Lesson is a case to fit a model to, and its weight.
type Lesson struct {
	*cases.Case
	Weight float64
	Judge  bool // an original case, not derived: models are judged on it
}

// Course collects the training cases for the model of a source type: the original cases, and harder
// ones derived from them. The draws are the same every time.
func Course(source string, all, used []*cases.Case) (out []Lesson) {
	rng := rand.New(rand.NewPCG(3, 9)) //nolint:gosec // the same course every time
	own := slices.DeleteFunc(slices.Clone(all), func(c *cases.Case) bool { return c.SourceType != source })
	byRepo := map[string][]*cases.Case{}
	for _, c := range own {
		byRepo[c.Repo] = append(byRepo[c.Repo], c)
	}
	for _, c := range own {
		if c.Set == "views" {
			out = append(out, Lesson{c.WithTask(), 1, true}, Lesson{c, .4, false})
			if w := c.WithTask().Window(rng); w != nil {
				out = append(out, Lesson{w, .4, false})
			}
			continue
		}
		out = append(out, Lesson{c, 1, true})
		if source != "code" {
			continue
		}
		for range 2 {
			if w := c.Window(rng); w != nil {
				out = append(out, Lesson{w, .4, false})
			}
		}
		kin := byRepo[c.Repo]
		other := kin[rng.IntN(len(kin))]
		if other.ID == c.ID {
			continue
		}
		out = append(out, Lesson{c.Chatty(other, c.Path), .4, false})
		if j := c.Joined(other, rng.IntN(2) == 0); j != nil {
			out = append(out, Lesson{j, .3, false})
		}
	}
	for _, c := range used {
		if c.SourceType == source && source == "code" {
			out = append(out, Lesson{c.WithTask(), .5, true})
		}
	}
	return out
}
