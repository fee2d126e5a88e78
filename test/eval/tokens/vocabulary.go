package main

import (
	"os"
	"path/filepath"

	"github.com/tiktoken-go/tokenizer"

	"secateur/internal/llm/bpe"
)

// writeVocabulary writes the files that internal/llm/bpe embeds: the vocabulary and the classes of
// characters.
func writeVocabulary(dir string) error {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		return err
	}
	var tokens []string
	for rank := uint(0); ; rank++ {
		token, err := codec.Decode([]uint{rank})
		if err != nil {
			break // ranks have no gap: the first missing one ends them
		}
		tokens = append(tokens, token)
	}
	table, err := bpe.PackVocabulary(tokens)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "o200k.bin"), table, 0o644); err != nil { //nolint:gosec // part of the source
		return err
	}
	return os.WriteFile(filepath.Join(dir, "class.bin"), bpe.PackClasses(), 0o644) //nolint:gosec // part of the source
}
