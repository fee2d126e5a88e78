package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"secateur/internal/config"
)

// initFile is where init writes.
const initFile = "secateur.toml"

func newInit(w world) *cobra.Command {
	var preset string
	var force bool
	presets := []string{config.PresetDefault, config.PresetKimi}
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a commented configuration to ./" + initFile,
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if !slices.Contains(presets, preset) {
				return usage("there is no preset %q; there are %s", preset, strings.Join(presets, " and "))
			}
			if err := writeNew(initFile, config.Init(preset), force); err != nil {
				return err
			}
			fmt.Fprintf(w.out, "wrote %s; run it with: secateur serve\n", initFile)
			return nil
		},
	}
	cmd.Flags().StringVar(&preset, "preset", config.PresetDefault, "which `preset`: "+strings.Join(presets, " or "))
	cmd.Flags().BoolVar(&force, "force", false, "overwrite a file that is there")
	_ = cmd.RegisterFlagCompletionFunc("preset", cobra.FixedCompletions(presets, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// writeNew writes a file that must not be there yet, unless forced.
func writeNew(path string, data []byte, force bool) error {
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if !force {
		flags |= os.O_EXCL
	}
	f, err := os.OpenFile(path, flags, 0o600) // it may come to hold a token
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is already there; --force overwrites it", path)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
