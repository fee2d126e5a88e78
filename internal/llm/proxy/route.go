package proxy

import (
	"cmp"
	"net/url"
	"strings"

	"secateur/internal/llm/bill"
	"secateur/internal/llm/chat"
)

// provider is a configured provider.
type provider struct {
	Provider

	name   string
	base   *url.URL
	format chat.Format
	models modelList
}

// target is where a request goes.
type target struct {
	provider *provider
	model    string // the provider's name of the model; "": the client's, or none
	prices   bill.Prices
	told     bool // the prices come from the settings
}

// route finds the provider of a model: an alias, else provider/model, else the default provider
// takes it unchanged.
func (p *Proxy) route(model string) (target, bool) { return p.routeTo(p.fallback, model) }

// routeIn is route for a request in a format. Models without a provider go to one that uses the
// format.
func (p *Proxy) routeIn(format chat.Format, signedIn bool, model string) (target, bool) {
	return p.routeTo(p.fallbackIn(format, signedIn), model)
}

func (p *Proxy) routeTo(fallback *provider, model string) (target, bool) {
	if alias, ok := p.opt.Models[model]; ok {
		to := target{provider: p.providers[alias.Provider], model: alias.Model}
		to.prices, to.told = pricesOf(alias.Prices, to, model)
		return to, true
	}
	if prefix, rest, ok := strings.Cut(model, "/"); ok && rest != "" && p.providers[prefix] != nil {
		to := target{provider: p.providers[prefix], model: rest}
		to.prices, to.told = pricesOf(nil, to, model)
		return to, true
	}
	to := target{provider: fallback}
	if to.provider == nil {
		return target{}, false
	}
	to.prices, to.told = pricesOf(nil, to, model)
	return to, true
}

// fallbackIn returns the provider for models without an alias or prefix, in a format: the default
// provider if it uses the format, else the only one that does. If Codex has two providers, the one
// for ChatGPT sign-ins gets exactly their requests. The credentials for one are invalid at the
// other.
func (p *Proxy) fallbackIn(format chat.Format, signedIn bool) *provider {
	signedIn = signedIn && format == chat.Responses
	fits := func(to *provider) bool { return to.speaks(format) && to.isChatGPT() == signedIn }
	if p.fallback != nil && fits(p.fallback) {
		return p.fallback
	}
	var only *provider
	for _, to := range p.providers {
		if !fits(to) {
			continue
		}
		if only != nil {
			return p.fallback
		}
		only = to
	}
	if only == nil {
		return p.fallback
	}
	return only
}

// Prices returns the prices of a model by the settings, as the proxy takes them. An unknown model's input costs nothing.
func (o Options) Prices(model string) bill.Prices {
	prices, _ := o.PricesAt(model, "")
	return prices
}

// PricesAt is Prices on a day. Told says that the settings have the prices: they hold on every day.
func (o Options) PricesAt(model, day string) (prices bill.Prices, told bool) {
	p := Proxy{opt: o, providers: make(map[string]*provider, len(o.Providers))}
	for name, settings := range o.Providers {
		p.providers[name] = &provider{Provider: settings, name: name}
	}
	p.fallback = defaultProvider(o.DefaultProvider, p.providers)
	to, _ := p.route(model)
	if !to.told {
		to.prices, _ = bill.LookupAt(cmp.Or(to.model, model), day)
	}
	return to.prices, to.told
}

// pricesOf returns the alias's prices, else the provider's, else the known ones of a model with
// this name. told means that they are from the settings.
func pricesOf(own *bill.Prices, to target, asked string) (prices bill.Prices, told bool) {
	switch {
	case own != nil:
		return *own, true
	case to.provider.Prices != nil:
		return *to.provider.Prices, true
	case to.model != "":
		asked = to.model
	}
	known, _ := bill.Lookup(asked)
	return known, false
}

// url returns an address of the provider: below is an escaped path under its base.
func (p *provider) url(below, query string) *url.URL {
	u := *p.base
	path := strings.TrimSuffix(u.EscapedPath(), "/") + below
	u.Path, u.RawPath = path, ""
	if plain, err := url.PathUnescape(path); err == nil {
		u.Path, u.RawPath = plain, path
	}
	switch {
	case u.RawQuery == "":
		u.RawQuery = query
	case query != "":
		u.RawQuery += "&" + query
	}
	return &u
}

// defaultProvider returns the named provider, else the only one, else nil.
func defaultProvider(name string, all map[string]*provider) *provider {
	if name == "" && len(all) == 1 {
		for _, p := range all {
			return p
		}
	}
	return all[name]
}
