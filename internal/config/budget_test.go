package config_test

import (
	"fmt"
	"strings"
	"testing"

	"secateur/internal/config"
)

// A money limit needs the output price of every model that it is sure to meet.
func TestMoneyLimitNeedsThePriceOfOutput(t *testing.T) {
	const provider = "[providers.p]\nbase_url = \"https://example.com/v1\"\n"
	for name, c := range map[string]struct{ text, want string }{
		"a listed model":            {provider + "[models.fast]\nprovider = \"p\"\nmodel = \"gpt-6.1-sol\"\n", ""},
		"an unknown model":          {provider + "[models.fast]\nprovider = \"p\"\nmodel = \"mine\"\n", `the price of fast's output is not known; write output under [models."fast".prices]`},
		"prices without output":     {provider + "[models.fast]\nprovider = \"p\"\n[models.fast.prices]\ninput = 1.0\n", "the price of fast's output"},
		"prices with output":        {provider + "[models.fast]\nprovider = \"p\"\n[models.fast.prices]\ninput = 1.0\noutput = 4.0\n", ""},
		"a free model":              {provider + "[models.fast]\nprovider = \"p\"\n[models.fast.prices]\ninput = 0.0\n", ""},
		"a provider without output": {provider + "[providers.p.prices]\ninput = 1.0\n", "providers.p.prices has no output"},
		"a provider with output":    {provider + "[providers.p.prices]\ninput = 1.0\noutput = 2.0\n[models.fast]\nprovider = \"p\"\nmodel = \"mine\"\n", ""},
		"a model of another limit":  {provider + "[models.slow]\nprovider = \"p\"\nmodel = \"mine\"\n", ""},
	} {
		text := c.text + "[[limits]]\nname = \"budget\"\nmodel = [\"fa*\", \"gpt-5.4\"]\nusd_per_day = 5.0\n"
		_, mistakes := config.Load("c.toml", []byte(text), config.Options{Lookup: environment()})
		got := fmt.Sprint(mistakes)
		if (c.want == "") != (len(mistakes) == 0) || !strings.Contains(got, c.want) {
			t.Errorf("%s: mistakes %s, want %q", name, got, c.want)
		}
		if c.want != "" && !strings.Contains(got, "limits[0].usd_per_day") {
			t.Errorf("%s: %s names no key", name, got)
		}
		without := strings.Replace(text, "usd_per_day = 5.0", "tokens_per_day = 5", 1)
		if _, mistakes := config.Load("c.toml", []byte(without), config.Options{Lookup: environment()}); len(mistakes) > 0 {
			t.Errorf("%s, without a money limit: %v", name, mistakes)
		}
	}
	text := provider + "[[limits]]\nmodel = \"mine\"\nusd_per_day = 5.0\n"
	if _, mistakes := config.Load("c.toml", []byte(text), config.Options{Lookup: environment()}); len(mistakes) != 1 {
		t.Errorf("a model that the limit names: %v", mistakes)
	}
}
