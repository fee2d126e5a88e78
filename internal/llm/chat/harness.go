package chat

import (
	"slices"
	"strings"

	"secateur/internal/prune"
)

// Agent programs write their own text into tool results: reminders, rules of a directory, counters,
// the frame around a sub-agent's report. A model is meant to read all of it, so it is never cut.

// harnessTags are the tags around such text in Claude Code, Codex, OpenCode, Qwen Code and Cline.
var harnessTags = wordSet("system-reminder system_reminder system-note system_note system_warning total_tokens usage tool_use_error " +
	// Claude Code.
	"task-notification sandbox_violations cc-memory memory_updates subagent_hand_back persisted-output interrupted-output " +
	"context_window context_window_reminder context_window_guidance environment_context user_instructions skills_instructions " +
	"plugins_instructions apps_instructions model_instructions collaboration_mode multi_agent_mode model_switch proposed_plan " +
	// Codex.
	"image_resize_notice codex_internal_context codex_delegation subagent_notification turn_aborted skill " +
	// OpenCode.
	"task_metadata bash_metadata shell_metadata skill_content skill_files available_skills " +
	"environment_details explicit_instructions feedback user_message task_progress") // Cline

// maxHarness is the maximum number of bytes between two such tags. A longer text is data that has
// the tags by chance.
const maxHarness = 32 << 10

// harnessLines returns the lines written by the client's program, in order.
func harnessLines(lines prune.Lines) (out []prune.Span) {
	for i := 1; i <= lines.Len(); i++ {
		tag, rest := harnessTag(lines.Line(i))
		if tag == "" {
			continue
		}
		closing, size := "</"+tag+">", 0
		for j := i; j <= lines.Len() && size <= maxHarness; j++ {
			if strings.HasSuffix(strings.TrimRight(rest, " \t\r\n"), closing) {
				out = append(out, prune.Span{Start: i, End: j})
				i = j
				break
			}
			size += len(rest)
			rest = lines.Line(j + 1)
		}
	}
	return out
}

// harnessTag finds the first opening tag of such text in a line, and what follows it.
func harnessTag(line string) (tag, rest string) {
	for {
		_, after, found := strings.Cut(line, "<")
		if !found {
			return "", ""
		}
		line = after
		end := 0
		for end < len(line) && (isWordByte(line[end]) || line[end] == '-') {
			end++
		}
		if end < len(line) && (line[end] == '>' || line[end] == ' ') && harnessTags[line[:end]] {
			return line[:end], line[end:]
		}
	}
}

// without removes from blocks the lines that must stay.
func without(blocks []prune.Block, stay []prune.Span) (out []prune.Block) {
	if len(stay) == 0 {
		return blocks
	}
	for _, b := range blocks {
		for _, s := range stay {
			if s.End < b.Start || b.End < s.Start {
				continue
			}
			if s.Start > b.Start {
				out = append(out, prune.Block{Start: b.Start, End: s.Start - 1, Reason: b.Reason})
			}
			b.Start = s.End + 1
		}
		if b.Start <= b.End {
			out = append(out, b)
		}
	}
	return out
}

// handBacks are prefixes of a line that marks a result as a sub-agent's report.
var handBacks = []string{"[Subagent hand-back]", "<task_result", "<subagent_notification>", "<task-notification>"}

// isHandBack reports whether a text is a sub-agent's report.
func isHandBack(text string) bool {
	for _, start := range handBacks {
		if strings.HasPrefix(text, start) || strings.Contains(text, "\n"+start) {
			return true
		}
	}
	return false
}

// holdsRules reports whether a client's program has put instructions into a result. Examples are
// those of a file's directory, or a sub-agent's report. They apply for the whole conversation.
func holdsRules(text string) bool {
	if isHandBack(text) {
		return true
	}
	if !strings.Contains(text, "Contents of ") && !strings.Contains(text, "Instructions from: ") {
		return false
	}
	lines := prune.IndexLines(text)
	return slices.ContainsFunc(harnessLines(lines), func(s prune.Span) bool {
		said := lines.Range(s.Start, s.End)
		return strings.Contains(said, "Contents of ") || strings.Contains(said, "Instructions from: ")
	})
}

// sparedTools are tools whose results are an agent's own words, or what its user wants it to
// remember.
var sparedTools = wordSet("agent task use_subagents spawn_agent wait_agent list_agents send_input resume_agent followup_task sendmessage " +
	"exitplanmode enterplanmode exit_plan_mode enter_plan_mode plan_mode_respond plan_exit plan_enter update_plan " +
	"skill use_skill activate_skill todowrite todoread todo_write taskcreate taskupdate tasklist taskget memory")

// IsSpared tells whether the results of a tool pass whole at every door: an agent's own words, and recoveries.
func IsSpared(tool string) bool { return isSparedTool(tool) || isRecovery(tool) }

// isSparedTool tells whether the results of a tool pass whole.
func isSparedTool(tool string) bool {
	name := strings.ToLower(tool)
	return sparedTools[name] || strings.HasSuffix(name, "_memory") || strings.HasSuffix(name, "_memories")
}
