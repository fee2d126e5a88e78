package catalog

// ProfileOf is a built-in profile, for the tests.
type ProfileOf struct {
	Client   string
	Patterns []string
	Naming   Naming
}

// Profiles returns the built-in profiles.
func Profiles() []ProfileOf {
	var all []ProfileOf
	for _, p := range profiles() {
		all = append(all, ProfileOf{p.client, p.patterns, p.naming})
	}
	return all
}

// All returns every Naming that may be used.
func (n *Names) All() []Naming { return n.all }

// Views returns the number of cached views.
func (c *Catalog) Views() int { return len(c.views) }
