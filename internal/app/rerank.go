package app

import (
	"secateur/internal/pruner"
	"secateur/internal/rerank"
)

// newRerank makes the reranker that the pruner's settings ask for; nil for none. It is closed with the program.
func (a *App) newRerank() (pruner.Rerank, error) {
	p, r := a.cfg.Pruner, a.cfg.Reranker
	backend, _ := rerank.ParseBackend(p.Backend) // the configuration has been checked
	key := r.APIKey
	switch backend {
	case rerank.DeepInfra:
		key = r.DeepInfraAPIKey
	case rerank.Rerank:
	default:
		return nil, nil
	}
	client, err := rerank.New(rerank.Options{
		Settings: rerank.Settings{
			Backend:         backend,
			TimeoutMS:       int(p.DeepInfraTimeout.Milliseconds()),
			MaxDocs:         p.DeepInfraMaxDocs,
			CacheTTLSeconds: p.CacheTTL.Seconds(),
			CacheMaxEntries: p.CacheMaxEntries,
			RerankURL:       p.RerankURL,
			RerankModel:     p.RerankModel,
			DeepInfraURL:    r.DeepInfraURL,
			APIKey:          key,
		},
		Log: a.log,
	})
	if err != nil {
		return nil, err
	}
	a.closers = append(a.closers, client)
	return client.Score, nil
}
