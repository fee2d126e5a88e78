package app

import (
	"secateur/internal/pruner"
	"secateur/internal/rerank"
)

// newRerank makes the reranker that the pruner's settings ask for; nil for none. It is closed with the program.
func (gen *generation) newRerank() (pruner.Rerank, error) {
	settings := gen.cfg.Pruner.Settings
	if backend, _ := rerank.ParseBackend(settings.Backend); backend == rerank.Heuristic { // the configuration has been checked
		return nil, nil
	}
	client, err := rerank.New(rerank.Options{Settings: settings, Log: gen.log})
	if err != nil {
		return nil, err
	}
	gen.App.closers = append(gen.closers, client)
	return client.Score, nil
}
