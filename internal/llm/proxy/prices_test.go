package proxy

import (
	"testing"

	"secateur/internal/llm/bill"
)

// The prices of an alias take precedence over its provider's, and those over the list.
func TestPricesOfAModelByTheSettings(t *testing.T) {
	price := func(input float64) *bill.Prices { return &bill.Prices{Input: input} }
	o := Options{
		Providers: map[string]Provider{"priced": {Prices: price(7)}, "plain": {}},
		Models: map[string]Model{
			"own": {Provider: "priced", Prices: price(8)}, "its": {Provider: "priced"}, "fast": {Provider: "plain", Model: "gpt-4o"},
		},
	}
	for model, want := range map[string]float64{
		"own": 8, "its": 7, "fast": 2.5, "priced/x": 7, "plain/gpt-4o-mini": 0.15, "gpt-4o": 2.5, "nobody-knows": 0, "": 0,
	} {
		if got := o.Prices(model).Input; got != want {
			t.Errorf("%q: %v dollars, want %v", model, got, want)
		}
	}
	o.DefaultProvider = "priced"
	if got := o.Prices("gpt-4o").Input; got != 7 {
		t.Errorf("of the default provider: %v dollars, want 7", got)
	}
}
