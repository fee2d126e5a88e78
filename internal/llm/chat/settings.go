package chat

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Settings say which old tool results of a conversation are replaced by a placeholder. The zero
// value masks nothing.
type Settings struct {
	Enabled bool `toml:"enabled" json:"enabled"`
	// Newest tool turns left whole; 0 or less: mask nothing.
	WindowTurns int  `toml:"window_turns" json:"window_turns"`
	KeepErrors  bool `toml:"keep_errors" json:"keep_errors"`
	// Newest results of each tool left whole; 0: off.
	KeepLastKPerTool int `toml:"keep_last_k_per_tool" json:"keep_last_k_per_tool"`
	MinChars         int `toml:"min_chars" json:"min_chars"` // shorter results are left whole
	// fields: {tool_call_id} {tool_name} {original_chars} {id}.
	PlaceholderTemplate string `toml:"placeholder_template" json:"placeholder_template"`
	Strategy            string `toml:"strategy" json:"strategy"` // one of the constants below
	// stepped: how many turns the boundary moves at a time.
	StepTurns int `toml:"step_turns" json:"step_turns"`
	// priced: 0.05 lets a conversation cost five percent more than passing through.
	MaxLoss float64 `toml:"max_loss" json:"max_loss"`
	// priced: the same for conversations of 50 tool turns and more.
	LongMaxLoss float64 `toml:"long_max_loss" json:"long_max_loss"`
	// Text of a placeholder about recovering the original.
	Recover string `toml:"recover" json:"recover"`
}

// The strategies of Settings, and what its placeholders say about recovery.
const (
	Sliding = "sliding" // mask what has left the window
	Stepped = "stepped" // the same, with a boundary that moves in steps
	Priced  = "priced"  // mask when it pays off

	RecoverNone = "none"
	RecoverHint = "hint" // the id, and how to use it
)

// DefaultTemplate is the default placeholder.
const DefaultTemplate = "[Observation masquée: résultat d’outil ancien " +
	"(tool_call_id={tool_call_id}, outil={tool_name}, chars={original_chars})]"

// Default returns the default settings.
func Default() Settings {
	return Settings{
		Enabled:             true,
		WindowTurns:         8,
		KeepErrors:          true,
		PlaceholderTemplate: DefaultTemplate,
		Strategy:            Priced,
		StepTurns:           8,
		Recover:             RecoverNone,
	}
}

// Validate reports every mistake as "key: text".
func (s Settings) Validate() error {
	errs := []error{
		notNegative("keep_last_k_per_tool", s.KeepLastKPerTool),
		notNegative("min_chars", s.MinChars),
		oneOf("strategy", s.Strategy, Sliding, Stepped, Priced),
		oneOf("recover", s.Recover, RecoverNone, RecoverHint),
	}
	if s.StepTurns < 1 {
		errs = append(errs, fmt.Errorf("step_turns: %d is below 1", s.StepTurns))
	}
	if math.IsNaN(s.MaxLoss) || s.MaxLoss < 0 || s.MaxLoss > 10 {
		errs = append(errs, fmt.Errorf("max_loss: %v is not between 0 and 10", s.MaxLoss))
	}
	if math.IsNaN(s.LongMaxLoss) || s.LongMaxLoss < 0 || s.LongMaxLoss > 10 {
		errs = append(errs, fmt.Errorf("long_max_loss: %v is not between 0 and 10", s.LongMaxLoss))
	}
	if !strings.Contains(s.PlaceholderTemplate, "{tool_call_id}") {
		errs = append(errs, errors.New("placeholder_template: must contain {tool_call_id}"))
	}
	return errors.Join(errs...)
}

// Pruning says which tool results are pruned when they are first sent.
type Pruning struct {
	Enabled  bool `toml:"enabled" json:"enabled"`
	MinChars int  `toml:"min_chars" json:"min_chars"` // shorter results pass whole
	// Target size of a big result.
	TargetChars   int     `toml:"target_chars" json:"target_chars"`
	MaxPruneRatio float64 `toml:"max_prune_ratio" json:"max_prune_ratio"`
	MinKeepLines  int     `toml:"min_keep_lines" json:"min_keep_lines"`
	// Lines that an earlier result of the request shows are referred to, and not sent again.
	Repeats bool `toml:"repeats" json:"repeats"`
	// on: long strings in the model's own calls are cut when they are first sent back.
	Arguments string `toml:"arguments" json:"arguments"`
}

// least returns the number of characters from which a result may be cut.
func (p Pruning) least() int {
	if p.Repeats {
		return min(p.MinChars, minRepeat)
	}
	return p.MinChars
}

// DefaultPruning returns the default settings.
func DefaultPruning() Pruning {
	return Pruning{MinChars: 4000, TargetChars: 4000, MaxPruneRatio: 0.95, MinKeepLines: 40, Repeats: true, Arguments: ArgumentsOff}
}

// engineVersion changes whenever the same text for the same goal may come out another.
const engineVersion = 8

// Engine identifies the pruning engine and its settings: equal engines give equal results.
func (p Pruning) Engine() uint64 {
	d := newDigest()
	for _, n := range []int{engineVersion, p.MinChars, p.TargetChars, p.MinKeepLines} {
		d = d.step(uint64(n), mixA) //nolint:gosec // any word will do
	}
	d = d.step(math.Float64bits(p.MaxPruneRatio), mixB)
	if p.Repeats {
		d = d.step(mixA, mixB)
	}
	if p.Arguments == ArgumentsOn {
		d = d.step(mixB, mixA)
	}
	k := d.sum()
	return max(1, word(k[:]))
}

// Validate reports every mistake as "key: text".
func (p Pruning) Validate() error {
	var errs []error
	if p.MinChars < 1 {
		errs = append(errs, fmt.Errorf("min_chars: %d is below 1", p.MinChars))
	}
	if p.TargetChars < 1 {
		errs = append(errs, fmt.Errorf("target_chars: %d is below 1", p.TargetChars))
	}
	if p.TargetChars > p.MinChars {
		errs = append(errs, errors.New("target_chars: more than min_chars, so that nothing would be pruned"))
	}
	if math.IsNaN(p.MaxPruneRatio) || p.MaxPruneRatio < 0 || p.MaxPruneRatio > 1 {
		errs = append(errs, fmt.Errorf("max_prune_ratio: %v is not between 0 and 1", p.MaxPruneRatio))
	}
	errs = append(errs, notNegative("min_keep_lines", p.MinKeepLines), oneOf("arguments", cmp.Or(p.Arguments, ArgumentsOff), ArgumentsOff, ArgumentsOn))
	return errors.Join(errs...)
}

func notNegative(key string, v int) error {
	if v < 0 {
		return fmt.Errorf("%s: %d is negative", key, v)
	}
	return nil
}

func oneOf(key, v string, words ...string) error {
	if slices.Contains(words, v) {
		return nil
	}
	return fmt.Errorf("%s: %q is none of %s", key, v, strings.Join(words, ", "))
}
