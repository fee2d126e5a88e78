package clients

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"secateur/internal/config/document"
)

// Setting is a change of a client's settings, beside its list of servers.
type Setting struct {
	Client Client
	Name   string // of its record
	File   string

	put  func(data []byte) ([]byte, error)
	take func(data []byte) ([]byte, error)
}

// ClaudeSettings is the file of Claude Code's settings: the user's, or those of this user for a project.
func ClaudeSettings(m Machine, project string) string {
	if project != "" {
		return filepath.Join(project, ".claude", "settings.local.json")
	}
	return filepath.Join(m.dirOf("CLAUDE_CONFIG_DIR", filepath.Join(m.Home, ".claude")), "settings.json")
}

// hookEvents are the events that our hook answers, with the matcher of each.
var hookEvents = []struct{ name, matcher string }{{"PostToolUse", "*"}, {"PreCompact", ""}, {"SessionStart", "compact|clear"}}

// hookTimeout is how many seconds Claude Code waits for the hook.
const hookTimeout = "10"

// hookWords are in every command of ours.
const hookWords = " hook claude-code"

// Hook is the setting by which Claude Code has its tools' results pruned by a command.
func Hook(m Machine, project, command string) Setting {
	c, _ := ByName("claude-code")
	name := "claude-code.hook"
	if project != "" {
		name += "." + digest([]byte(project))[:12]
	}
	return Setting{
		Client: c, Name: name, File: ClaudeSettings(m, project),
		put: func(data []byte) ([]byte, error) {
			data, err := takeHooks(data)
			for _, e := range hookEvents {
				if err != nil {
					return nil, err
				}
				data, err = document.AppendItem(data, []string{"hooks", e.name}, hookEntry(e.matcher, command))
			}
			return data, err
		},
		take: takeHooks,
	}
}

// hookEntry is what Claude Code's settings say of a hook.
func hookEntry(matcher, command string) []document.Field {
	run := []document.Field{{Name: "type", Value: "command"}, {Name: "command", Value: command}, {Name: "timeout", Value: document.Number(hookTimeout)}}
	entry := []document.Field{{Name: "hooks", Value: []any{run}}}
	if matcher != "" {
		entry = append([]document.Field{{Name: "matcher", Value: matcher}}, entry...)
	}
	return entry
}

func takeHooks(data []byte) (_ []byte, err error) {
	for _, e := range hookEvents {
		if data, err = document.RemoveItems(data, []string{"hooks", e.name}, isOurHook); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// isOurHook tells whether an entry of a hook runs our command.
func isOurHook(entry []byte) bool { return strings.Contains(string(entry), hookWords) }

// HasHook tells whether settings of Claude Code have our hook.
func HasHook(settings []byte) bool {
	list, ok := document.At(settings, []string{"hooks", hookEvents[0].name})
	return ok && isOurHook(list)
}

// modelPath is where Claude Code's settings have the base URL of its models.
var modelPath = []string{"env", "ANTHROPIC_BASE_URL"}

// Model is the setting by which the conversations of Claude Code pass through a daemon.
func Model(m Machine, base string) Setting {
	c, _ := ByName("claude-code")
	return Setting{
		Client: c, Name: "claude-code.model", File: ClaudeSettings(m, ""),
		put: func(data []byte) ([]byte, error) { return document.SetText(data, modelPath, base) },
		take: func(data []byte) ([]byte, error) {
			if !HasModel(data, base) {
				return data, nil
			}
			return document.RemoveMember(data, modelPath)
		},
	}
}

// HasModel tells whether settings of Claude Code name a daemon as the base URL of its models.
func HasModel(settings []byte, base string) bool {
	value, ok := document.At(settings, modelPath)
	return ok && strings.Trim(string(value), `"/`) == strings.TrimSuffix(base, "/")
}

// ConnectSetting works out how a setting gets into its file.
func (k Keeper) ConnectSetting(s Setting) (out Connection, err error) {
	out = Connection{Client: s.Client, File: s.File, record: s.Name}
	if out.Before, err = Read(s.File); err != nil {
		return out, err
	}
	data, err := s.put(out.Before.Data)
	if err != nil {
		return out, fmt.Errorf("%s: %w", s.File, err)
	}
	out.After = Version{Data: data, Exists: true}
	if sameWords(data, out.Before.Data) {
		out.After = out.Before
	}
	k.findUndo(&out)
	return out, nil
}

// DisconnectSetting works out how a setting gets out of its file again: the file as it was, byte for byte, or, if somebody has changed it
// since, the file less the setting.
func (k Keeper) DisconnectSetting(s Setting) (out Connection, err error) {
	out = Connection{Client: s.Client, File: s.File, record: s.Name}
	r, before, err := k.recall(s.Name)
	known := err == nil
	if known {
		out.File = r.File
	} else if !errors.Is(err, os.ErrNotExist) {
		return out, err
	}
	if out.Before, err = Read(out.File); err != nil {
		return out, err
	}
	out.After = out.Before
	switch {
	case !out.Before.Exists:
	case known && r.After == digest(out.Before.Data):
		out.After = before
	default:
		if out.After.Data, err = s.take(out.Before.Data); err != nil {
			return out, fmt.Errorf("%s: %w", out.File, err)
		}
	}
	return out, nil
}
