package replay

import "fmt"

// writeSummary writes the costs and the advice.
func (r *Report) writeSummary(p *printer) {
	d := r.Dollars
	if d == nil {
		return
	}
	if d.Sessions > 0 {
		d.writeAdvice(p)
		p.f("\ninput of %s, %s, at the prices of their models\n\n", count(d.Sessions, "session"), count(d.Requests, "request"))
		p.f("%-32s %12s %12s %24s\n", "strategy", "dollars", "saved", "sessions made dearer")
		p.f("%-32s %12s\n", "passing through", money(d.Through))
		for _, s := range d.Strategies {
			p.f("%-32s %12s %12s %24d\n", s.Name, money(s.Spent), saving(d.Through-s.Spent), s.Dearer)
		}
		p.f("\n")
	}
	for _, model := range d.Unpriced {
		if model == "" {
			p.f("Sessions that name no model are not in the dollars: write \"model\" into them.\n\n")
			continue
		}
		p.f("No prices are known for model %q: its sessions are not in the dollars. Write them down:\n\n", model)
		p.f("[models.%q]\nprovider = \"NAME\"\n[models.%q.prices]\n", model, model)
		p.f("input = 0.0         # dollars per million tokens\ncached_input = 0.0\ncache_write = 0.0\n\n")
	}
}

func (d *Dollars) writeAdvice(p *printer) {
	switch a := d.Advice; {
	case a == nil:
		p.f("Nothing is saved here: you would have paid %s passing everything through, and no strategy is cheaper without\n"+
			"making a conversation dearer. Leave the configuration as it is.\n", money(d.Through))
	case a.Write == "":
		p.f("You would have paid %s instead of %s (%s). Your configuration says so already: %s.\n",
			money(a.Spent), money(d.Through), change(a.Spent, d.Through), a.Strategy)
	default:
		p.f("You would have paid %s instead of %s (%s) with %s. Write this:\n\n%s",
			money(a.Spent), money(d.Through), change(a.Spent, d.Through), a.Strategy, a.Write)
	}
}

func change(spent, through float64) string { return fmt.Sprintf("%+.0f %%", 100*(spent/through-1)) }

// saving formats a saving; a loss has a minus sign.
func saving(x float64) string {
	if x < 0 {
		return "-" + money(-x)
	}
	return money(x)
}

// money formats dollars, with more digits for small sums.
func money(x float64) string {
	if x < 1 {
		return fmt.Sprintf("$%.4f", x)
	}
	return fmt.Sprintf("$%.2f", x)
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
