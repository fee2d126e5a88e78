package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"secateur/internal/access/auth"
	"secateur/internal/config"
)

func newToken(w world) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Make, list and revoke the tokens that clients show",
		Long: `token keeps the tokens of clients: by their hash, in tokens.json of the state directory or
in the file that auth.token_file names. A running daemon follows within two seconds, and ends
what the holder of a revoked token has open.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newTokenNew(w), newTokenList(w), newTokenRevoke(w))
	return cmd
}

// tokenFile is the one that the configuration means.
func (w world) tokenFile(config string) (auth.TokenFile, []auth.Token, error) {
	cfg, err := w.usable(config, "", orWorkingDir)
	if err != nil {
		return auth.TokenFile{}, nil, err
	}
	return auth.TokenFileOf(cfg.Auth, w.stateDir), cfg.Auth.Tokens, nil
}

func newTokenNew(w world) *cobra.Command {
	var file, tenant, expires string
	var roles []string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Make a token and print it, once",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			keep, configured, err := w.tokenFile(file)
			if err != nil {
				return err
			}
			t := auth.Token{Name: args[0], Tenant: tenant, Roles: roles}
			if slices.ContainsFunc(configured, func(other auth.Token) bool { return other.Name == t.Name }) {
				return fmt.Errorf("the configuration has a token %q already; choose another name", t.Name)
			}
			if expires != "" {
				life, err := auth.ParseLife(expires)
				if err != nil {
					return usage("--expires: %v", err)
				}
				t.Expires = time.Now().Add(life).UTC().Truncate(time.Second)
			}
			text, made, err := keep.Add(t)
			if err != nil {
				return err
			}
			fmt.Fprintln(w.err, "secateur: from now on every door asks for a token; clients send it as 'Authorization: Bearer TOKEN'")
			if !asJSON {
				fmt.Fprintln(w.out, text)
				return nil
			}
			return json.NewEncoder(w.out).Encode(struct {
				Name    string     `json:"name"`
				Token   string     `json:"token"`
				Hash    string     `json:"hash"`
				Tenant  string     `json:"tenant"`
				Roles   []string   `json:"roles"`
				Expires *time.Time `json:"expires"`
			}{made.Name, text, made.Hash, shownTenant(made), shownRoles(made), shownExpiry(made)})
		},
	}
	configFlag(cmd, &file)
	cmd.Flags().StringVar(&tenant, "tenant", "", "`tenant` of its holder (default: default)")
	cmd.Flags().StringArrayVar(&roles, "role", nil, "`role` of its holder; may be given several times")
	cmd.Flags().StringVar(&expires, "expires", "", "`how long` it is good: 90s, 15m, 24h, 30d (default: until it is revoked)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func newTokenList(w world) *cobra.Command {
	var file string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the tokens, without their texts",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			keep, configured, err := w.tokenFile(file)
			if err != nil {
				return err
			}
			filed, err := keep.Read()
			if err != nil {
				return err
			}
			list := append(slices.Clone(filed), configured...)
			if asJSON {
				return json.NewEncoder(w.out).Encode(listed(list))
			}
			for _, t := range list {
				until := "until revoked"
				if !t.Expires.IsZero() {
					until = "until " + t.Expires.Format(time.RFC3339)
				}
				fmt.Fprintf(w.out, "%s\ttenant %s\troles %s\t%s\n", t.Name, shownTenant(t), strings.Join(append(shownRoles(t), ""), " "), until)
			}
			return nil
		},
	}
	configFlag(cmd, &file)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

type listedToken struct {
	Name    string     `json:"name"`
	Tenant  string     `json:"tenant"`
	Roles   []string   `json:"roles"`
	Expires *time.Time `json:"expires"`
}

func listed(all []auth.Token) any {
	out := struct {
		Tokens []listedToken `json:"tokens"`
	}{[]listedToken{}}
	for _, t := range all {
		out.Tokens = append(out.Tokens, listedToken{t.Name, shownTenant(t), shownRoles(t), shownExpiry(t)})
	}
	return out
}

func newTokenRevoke(w world) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "revoke NAME",
		Short: "Revoke a token",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			keep, configured, err := w.tokenFile(file)
			if err != nil {
				return err
			}
			err = keep.Revoke(args[0])
			if errors.Is(err, auth.ErrNoToken) {
				if slices.ContainsFunc(configured, func(t auth.Token) bool { return t.Name == args[0] }) {
					return fmt.Errorf("token %q stands in the configuration; take it out there", args[0])
				}
				return fmt.Errorf("no token has the name %q; 'secateur token list' shows them", args[0])
			}
			if err == nil {
				fmt.Fprintf(w.err, "secateur: the token is revoked; every door still asks for one. To ask for none, remove %s and start secateur again\n", keep.Path)
			}
			return err
		},
	}
	configFlag(cmd, &file)
	return cmd
}

// hasTokens reports whether the token file makes every door ask for a token.
func (w world) hasTokens(cfg *config.Config) bool {
	file := auth.TokenFileOf(cfg.Auth, w.stateDir)
	_, err := os.Stat(file.Path)
	return file.Path != "" && err == nil
}

func shownTenant(t auth.Token) string {
	if t.Tenant == "" {
		return "default"
	}
	return t.Tenant
}

func shownRoles(t auth.Token) []string {
	if t.Roles == nil {
		return []string{}
	}
	return t.Roles
}

func shownExpiry(t auth.Token) *time.Time {
	if t.Expires.IsZero() {
		return nil
	}
	return &t.Expires
}
