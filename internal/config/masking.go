package config

import (
	"errors"
	"fmt"

	"secateur/internal/cut/mask"
	"secateur/internal/llm/chat"
)

// ObservationMasking configures the cutting of tool results for each door.
type ObservationMasking struct {
	Gateway mask.Settings `toml:"gateway"` // raw JSON-RPC to one server
	MCP     MCPMasking    `toml:"mcp"`     // the aggregate
	Schema1 chat.Settings `toml:"schema1"` // conversations on their way to a model
}

// MCPMasking configures the aggregate's cuts: texts of tool results, never media.
type MCPMasking struct {
	Enabled     bool   `toml:"enabled"`
	Mode        string `toml:"mode"`         // MaskGoal | MaskHeadTail
	TargetChars int    `toml:"target_chars"` // MaskGoal: what a long text is pruned towards
	Structured  string `toml:"structured"`   // StructuredRepeats | StructuredNone
	mask.Settings
}

// What stays of a long text.
const (
	MaskGoal     = "goal"      // what its call asked for
	MaskHeadTail = "head_tail" // its beginning and its end
)

// Cuts are the settings by which long texts are found. With a goal, head and tail do not count.
func (m MCPMasking) Cuts() mask.Settings {
	s := m.Settings
	if m.Mode == MaskGoal {
		s.HeadChars, s.TailChars = 0, 0
	}
	return s
}

// What is cut in structured content.
const (
	StructuredRepeats = "repeats" // strings that repeat a text that was cut
	StructuredNone    = "none"
)

// Validate reports every mistake.
func (m MCPMasking) Validate() error {
	err := m.Cuts().Validate()
	if m.Mode != MaskGoal && m.Mode != MaskHeadTail {
		err = errors.Join(err, fmt.Errorf("mode: %q is none of %s, %s", m.Mode, MaskGoal, MaskHeadTail))
	}
	if m.Mode == MaskGoal && (m.TargetChars < 1 || m.TargetChars > m.MaxChars) {
		err = errors.Join(err, fmt.Errorf("target_chars: %d is not between 1 and max_chars %d", m.TargetChars, m.MaxChars))
	}
	if m.Structured != StructuredRepeats && m.Structured != StructuredNone {
		err = errors.Join(err, fmt.Errorf("structured: %q is none of %s, %s", m.Structured, StructuredRepeats, StructuredNone))
	}
	return err
}

func defaultObservationMasking() ObservationMasking {
	m := ObservationMasking{Gateway: mask.Default(), Schema1: chat.Default()}
	m.MCP = MCPMasking{Enabled: true, Mode: MaskGoal, TargetChars: 8000, Structured: StructuredRepeats, Settings: mask.Default()}
	m.MCP.MaxChars, m.MCP.HeadChars, m.MCP.TailChars = 10000, 10000, 10000
	m.MCP.Marker = "\n⟦PRUNED chars {head}-{end} id={id}. Left out to save context; to read it, call {tool} with prune_id, start and end.⟧\n"
	m.MCP.ExemptMedia = true
	return m
}

// settleMode fills in what a file leaves open, by what it gives: one that says how long head and tail are means these.
func (m *MCPMasking) settleMode(given func(key string) bool) {
	if !given("mode") && (given("head_chars") || given("tail_chars")) {
		m.Mode = MaskHeadTail
	}
	switch {
	case m.Mode == MaskHeadTail && !given("max_chars"):
		m.MaxChars = headTailMaxChars
	case m.Mode == MaskGoal && !given("target_chars") && m.TargetChars > m.MaxChars:
		m.TargetChars = max(1, m.MaxChars*8/10)
	}
}

const headTailMaxChars = 20000
