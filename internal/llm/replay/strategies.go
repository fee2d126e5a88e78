package replay

import (
	"fmt"

	"secateur/internal/llm/bill"
	"secateur/internal/llm/chat"
)

// Tables returns the generations of models that matter. They differ in the prices of a cached token
// and of a cache write. They also differ in the places where the cache can find a prompt again.
func Tables() []Table {
	chats := func(name string, read, write float64) Table {
		return Table{Name: name, Rates: bill.Rates{Read: read, Write: write}}
	}
	claude := func(name, model string, read float64) Table {
		return Table{name, bill.Rates{Read: read, Write: 1.25, Hour: 2}, bill.Markers, chat.Messages, model}
	}
	gpt := func(name, model string, kind bill.Kind, write float64) Table {
		return Table{name, bill.Rates{Read: 0.10, Write: write}, kind, chat.Responses, model}
	}
	return []Table{
		chats("claude/gpt-5.6", 0.10, 1.25),
		chats("gpt-5", 0.10, 1),
		chats("kimi", 0.168, 1),
		chats("deepseek", 0.02, 1),
		chats("4o", 0.5, 1),
		chats("no-cache", 1, 1),
		claude("claude 4.5-5", "claude-opus-5", 0.10),
		claude("opus 5.5", "claude-opus-5-5", 0.05),
		claude("fable 5.1", "claude-fable-5-1", 0.025),
		gpt("gpt-5.6, gpt-6", "gpt-5.6-sol", bill.Endings, 1.25),
		gpt("gpt-5.5", "gpt-5.5", bill.Intervals, 1),
		gpt("gpt-5", "gpt-5", bill.Blocks, 1),
	}
}

// Strategies returns the strategies to compare. All have the window and the placeholder of the
// given settings.
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

// same reports whether both strategies have the same compared settings.
func (s Strategy) same(other Strategy) bool { return s.settings() == other.settings() }

// settings returns the configuration lines that choose the strategy.
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
