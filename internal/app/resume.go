package app

import (
	"secateur/internal/llm/bill"
	"secateur/internal/llm/proxy"
	"secateur/internal/ops/admin"
	"secateur/internal/store/ledger"
)

// resume returns the cost of resuming a conversation; nil: prices or size unknown.
func (a *App) resume(c ledger.Account) *admin.Resume {
	if len(c.Requests) == 0 {
		return nil
	}
	cfg, last := a.live.Load().cfg, c.Requests[len(c.Requests)-1]
	prices := proxy.Options{Providers: cfg.Providers, Models: cfg.Models, DefaultProvider: cfg.DefaultProvider}.Prices(c.Provider + "/" + c.Model)
	if prices.Input <= 0 || last.PromptTokens <= 0 {
		return nil
	}
	return resumeAt(prices, last.PromptTokens, last.RemovedTokens)
}

// resumeAt returns the cost for a prompt of that many tokens, after removed tokens were cut from
// it.
func resumeAt(p bill.Prices, prompt, removed int64) *admin.Resume {
	read, write := priceOr(p.CachedInput, p.Input), priceOr(p.CacheWrite, p.Input)
	cost := func(tokens int64, perMillion float64) float64 {
		if p.LongAbove > 0 && float64(tokens) > p.LongAbove && p.LongTimes > 0 {
			perMillion *= p.LongTimes
		}
		return float64(tokens) * perMillion / 1e6
	}
	return &admin.Resume{PromptTokens: prompt, WarmUSD: cost(prompt, read), ColdUSD: cost(prompt, write), PassthroughColdUSD: cost(prompt+removed, write)}
}
