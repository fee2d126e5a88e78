package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"secateur/internal/app"
	"secateur/internal/config"
	"secateur/internal/ops/clients"
)

// halfFlags say which half of Claude Code is connected, instead of its list of MCP servers.
type halfFlags struct{ hook, project, model bool }

func (h *halfFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&h.hook, "hook", false, "Claude Code: prune its own tools' results by its hook, in settings.json")
	cmd.Flags().BoolVar(&h.project, "project", false, "with --hook: for the project in the working directory alone, in .claude/settings.local.json")
	cmd.Flags().BoolVar(&h.model, "model", false, "Claude Code: its conversations pass through a running 'secateur serve', by the base URL in settings.json")
}

func (h *halfFlags) check(c clients.Client, http bool) error {
	switch {
	case h.hook && h.model:
		return usage("--hook and --model together would prune every result twice; choose one")
	case h.project && !h.hook:
		return usage("--project goes with --hook")
	case (h.hook || h.model) && http:
		return usage("--http is for the list of MCP servers; connect that by itself")
	case (h.hook || h.model) && c.Name != "claude-code":
		return usage("--hook and --model are for claude-code; %s has no such setting that is known", c.Title)
	}
	return nil
}

// connectHalf writes a setting of Claude Code.
func (w world) connectHalf(h halfFlags, file string, flags changeFlags) error {
	cfg, err := w.usable(file, "", usersOwn)
	if err != nil {
		return err
	}
	base := strings.TrimSuffix(mcpURL(cfg.Settings), "/mcp")
	setting := clients.Model(w.machine(), base)
	if h.hook {
		if setting, err = w.hookSetting(h.project, cfg); err != nil {
			return err
		}
	}
	if err := w.refuseTwice(h, base); err != nil {
		return err
	}
	plan, err := w.keeper().ConnectSetting(setting)
	if err != nil {
		return err
	}
	if err := w.settlePlan(plan, flags, w.keeper().Join); err != nil {
		return err
	}
	if _, ok := cfg.Providers["anthropic"]; h.model && !ok {
		fmt.Fprintln(w.err, "secateur: the configuration has no [providers.anthropic]; examples/agents.toml shows one, and without it conversations are refused")
	}
	return nil
}

// hookSetting is the hook of the user, or of the project in the working directory.
func (w world) hookSetting(project bool, cfg *config.Config) (clients.Setting, error) {
	program, err := os.Executable()
	if err != nil {
		return clients.Setting{}, err
	}
	path := ""
	if cfg.Path != "" {
		if path, err = filepath.Abs(cfg.Path); err != nil {
			return clients.Setting{}, err
		}
	}
	dir, err := projectDir(project)
	return clients.Hook(w.machine(), dir, app.HookCommand(program, path)), err
}

func projectDir(project bool) (string, error) {
	if !project {
		return "", nil
	}
	return filepath.Abs(workingDir)
}

// refuseTwice refuses the hook where conversations pass through us already, and the other way round.
func (w world) refuseTwice(h halfFlags, base string) error {
	for _, project := range []bool{false, true} {
		dir, err := projectDir(project)
		if err != nil {
			return err
		}
		file := clients.ClaudeSettings(w.machine(), dir)
		now, err := clients.Read(file)
		if err != nil {
			return err
		}
		if h.hook && clients.HasModel(now.Data, base) {
			return fmt.Errorf("%s has the base URL %s already: with the hook every result would be pruned twice; 'secateur disconnect claude-code' takes it out", file, base)
		}
		if h.model && clients.HasHook(now.Data) {
			return fmt.Errorf("%s has the hook already: with the base URL every result would be pruned twice; 'secateur disconnect claude-code' takes it out", file)
		}
	}
	return nil
}

// disconnectHalves takes out the settings of Claude Code that were written, and says nothing of others.
func (w world) disconnectHalves(flags changeFlags) error {
	cfg, err := w.usable("", "", usersOwn)
	if err != nil {
		return err
	}
	settings := []clients.Setting{clients.Model(w.machine(), strings.TrimSuffix(mcpURL(cfg.Settings), "/mcp"))}
	for _, project := range []bool{false, true} {
		dir, err := projectDir(project)
		if err != nil {
			return err
		}
		settings = append(settings, clients.Hook(w.machine(), dir, ""))
	}
	var errs []error
	for _, s := range settings {
		plan, err := w.keeper().DisconnectSetting(s)
		if err == nil && plan.Changed() {
			err = w.settlePlan(plan, flags, w.keeper().Part)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
