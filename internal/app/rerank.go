package app

import (
	"reflect"

	"secateur/internal/prune/pruner"
	"secateur/internal/prune/rerank"
)

// scorer is a reranker and its settings.
type scorer struct {
	settings rerank.Settings
	score    pruner.Rerank // nil: none
}

// openRerank makes the reranker of the pruner's settings, or keeps the existing one. It is closed
// with the program.
func (gen *generation) openRerank(before *generation) error {
	settings := gen.cfg.Pruner.Settings
	// Already validated.
	if backend, _ := rerank.ParseBackend(settings.Backend); backend == rerank.Heuristic {
		return nil
	}
	if before.scorer.score != nil && reflect.DeepEqual(before.scorer.settings, settings) {
		gen.scorer = before.scorer
		return nil
	}
	client, err := rerank.New(rerank.Options{Settings: settings, Log: gen.log})
	if err != nil {
		return err
	}
	gen.closers = append(gen.closers, client)
	gen.scorer = scorer{settings, client.Score}
	return nil
}
