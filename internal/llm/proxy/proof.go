package proxy

import (
	"encoding/binary"
	"errors"
	"fmt"

	"secateur/internal/llm/chat"
)

// Proof says how others check the reported savings. The zero value checks nothing.
type Proof struct {
	// Count asks the provider's free counter for the size of unchanged requests.
	Count  bool    `toml:"count" json:"count"`
	Sample float64 `toml:"sample" json:"sample"` // share of the requests with cuts that are counted
	// Holdout is the share of conversations that pass untouched, for comparison.
	Holdout float64 `toml:"holdout" json:"holdout"`
}

// DefaultProof returns the default settings.
func DefaultProof() Proof { return Proof{Sample: 0.05} }

// Validate reports every mistake as "key: text".
func (p Proof) Validate() error {
	return errors.Join(isShare("sample", p.Sample), isShare("holdout", p.Holdout))
}

func isShare(key string, share float64) error {
	if share >= 0 && share <= 1 {
		return nil
	}
	return fmt.Errorf("%s: %v is not between 0 and 1", key, share)
}

// shareOf maps a key to a number from 0 to 1, the same on every machine.
func shareOf(key chat.Key) float64 {
	return float64(binary.LittleEndian.Uint64(key[:])>>11) / (1 << 53)
}
