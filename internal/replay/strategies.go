package replay

import (
	"fmt"

	"secateur/internal/bill"
	"secateur/internal/chat"
)

// Tables are the price tables that matter: by how much cheaper a cached token is
// than another, and how much dearer it is to write it to the cache.
func Tables() []Table {
	return []Table{
		{"claude/gpt-5.6", bill.Rates{Read: 0.10, Write: 1.25}},
		{"gpt-5", bill.Rates{Read: 0.10, Write: 1}},
		{"kimi", bill.Rates{Read: 0.168, Write: 1}},
		{"deepseek", bill.Rates{Read: 0.02, Write: 1}},
		{"4o", bill.Rates{Read: 0.5, Write: 1}},
		{"no-cache", bill.Rates{Read: 1, Write: 1}},
	}
}

// Strategies are the ways to treat a conversation that are compared, all with the
// window and the placeholder of the settings given.
func Strategies(masking chat.Settings, pruning chat.Pruning) []Strategy {
	masking.Enabled, pruning.Enabled = true, true
	with := func(strategy string, maxLoss float64) chat.Settings {
		s := masking
		s.Strategy, s.MaxLoss = strategy, maxLoss
		return s
	}
	const loss = 0.05
	return []Strategy{
		{Name: "sliding", Masking: with(chat.Sliding, 0)},
		{Name: "stepped", Masking: with(chat.Stepped, 0)},
		{Name: "priced", Masking: with(chat.Priced, 0)},
		{Name: "priced, max_loss 0.05", Masking: with(chat.Priced, loss)},
		{Name: "pruning", Pruning: pruning},
		{Name: "priced + pruning", Masking: with(chat.Priced, 0), Pruning: pruning},
		{Name: "priced + pruning, max_loss 0.05", Masking: with(chat.Priced, loss), Pruning: pruning},
	}
}

// same tells whether both say the same of what is compared here.
func (s Strategy) same(other Strategy) bool { return s.settings() == other.settings() }

// settings are the lines of a configuration that choose the strategy.
func (s Strategy) settings() string {
	masking := "enabled = false\n"
	if s.Masking.Enabled {
		masking = fmt.Sprintf("enabled = true\nstrategy = %q\n", s.Masking.Strategy)
		if s.Masking.Strategy == chat.Priced {
			masking += fmt.Sprintf("max_loss = %v\n", s.Masking.MaxLoss)
		}
	}
	return fmt.Sprintf("[observation_masking.schema1]\n%s\n[context_pruning]\nenabled = %t\n", masking, s.Pruning.Enabled)
}
