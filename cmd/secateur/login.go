package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"secateur/internal/access/oauth"
	"secateur/internal/access/outbound"
	"secateur/internal/config"
	"secateur/internal/mcp/upstream"
	"secateur/internal/ops/admin"
)

// loginTime is how long a person has to sign in.
const loginTime = 10 * time.Minute

func newLogin(w world) *cobra.Command {
	var file, scope string
	var noBrowser bool
	cmd := &cobra.Command{
		Use:   "login SERVER",
		Short: "Sign in with a server that wants a person",
		Long: `login signs you in with an MCP server that asks for it (OAuth 2.1, authorization code with PKCE).
It prints the address to open, alone on a line, and waits until you have signed in there. The
token is kept in the state directory, readable for you alone, renewed by itself where the server
allows it, and shown to no other server. A running daemon notices. With --scope the scopes that a
call lacked are asked for beside those of the sign-in that there is.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: w.completeServers,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, set, err := w.serverOf(file, args[0])
			if err != nil {
				return err
			}
			if set.URL == "" {
				return fmt.Errorf("the server %s has no url: there is nothing to sign in with", set.ID)
			}
			resource, err := url.Parse(set.URL)
			if err != nil {
				return err
			}
			var settings oauth.Settings
			if set.OAuth != nil {
				settings = *set.OAuth
			}
			if settings.Flow == oauth.FlowClientCredentials {
				return fmt.Errorf("the server %s is set to client_credentials: nobody has to sign in", set.ID)
			}
			also, err := url.Parse(settings.TokenURL)
			if err != nil {
				return err
			}
			if scope != "" {
				before, _ := w.logins().Read(set.ID) // without one there are no scopes to keep
				scope = before.Scope + " " + scope
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), loginTime)
			defer cancel()
			login, err := oauth.SignIn{
				Server: set.ID, Resource: set.URL, Settings: settings, Version: version, Scope: scope,
				HTTP: outbound.Client(resource, cfg.Auth.Networks(), also),
				Show: func(address string) {
					fmt.Fprintln(w.out, address)
					if !noBrowser {
						openBrowser(ctx, address)
					}
				},
			}.Run(ctx)
			if err != nil {
				return fmt.Errorf("sign-in with %s: %w", set.ID, err)
			}
			if err := w.logins().Write(login); err != nil {
				return err
			}
			fmt.Fprintln(w.err, "signed in with "+set.ID+loginText(login))
			return nil
		},
	}
	configFlag(cmd, &file)
	cmd.Flags().StringVar(&scope, "scope", "", "also ask for these `scopes`, such as \"files:write\"")
	cmd.Flags().BoolVar(&noBrowser, "no-browser", false, "print the address, and open no browser")
	return cmd
}

func newLogout(w world) *cobra.Command {
	return &cobra.Command{
		Use:   "logout SERVER",
		Short: "Forget the sign-in with a server",
		Args:  cobra.ExactArgs(1),

		ValidArgsFunction: w.completeServers,
		RunE: func(_ *cobra.Command, args []string) error {
			err := w.logins().Remove(filepath.Base(args[0]))
			if errors.Is(err, oauth.ErrNoLogin) {
				return fmt.Errorf("nobody is signed in with %q", args[0])
			}
			if err == nil {
				fmt.Fprintln(w.out, "signed out of "+args[0])
			}
			return err
		},
	}
}

// logins are where sign-ins are kept.
func (w world) logins() oauth.Logins {
	if w.stateDir == "" {
		return oauth.Logins{}
	}
	return oauth.Logins{Dir: filepath.Join(w.stateDir, "logins")}
}

// serverOf is the server of an id in the configuration.
func (w world) serverOf(file, id string) (*config.Config, upstream.Settings, error) {
	cfg, err := w.usable(file, "", orWorkingDir)
	if err != nil {
		return nil, upstream.Settings{}, err
	}
	var ids []string
	for _, s := range cfg.Servers {
		ids = append(ids, s.ID)
	}
	i := slices.Index(ids, id)
	if i < 0 {
		known := "none is configured"
		if len(ids) > 0 {
			known = "known are " + strings.Join(ids, ", ")
		}
		return nil, upstream.Settings{}, fmt.Errorf("unknown server %q; %s", id, known)
	}
	return cfg, cfg.Servers[i], nil
}

func loginText(l oauth.Login) string {
	text := ""
	if l.Subject != "" {
		text += " as " + l.Subject
	}
	switch {
	case l.RefreshToken != "":
		text += ", renewed by itself"
	case !l.ExpiresAt.IsZero():
		text += " until " + l.ExpiresAt.Local().Format("2006-01-02 15:04")
	}
	return text
}

// openBrowser opens an address, which is http or https, without a shell. Where that fails the address is on the screen.
func openBrowser(ctx context.Context, address string) {
	var cmd *exec.Cmd
	switch runtime.GOOS {
	case "darwin":
		cmd = exec.CommandContext(ctx, "open", address)
	case "windows":
		cmd = exec.CommandContext(ctx, "rundll32", "url.dll,FileProtocolHandler", address)
	default:
		cmd = exec.CommandContext(ctx, "xdg-open", address)
	}
	_ = cmd.Run() // the person can open it
}

// loginLine says who is signed in with a server, and until when.
func loginLine(l admin.Login, now time.Time) string {
	text := l.Server
	if l.Subject != "" {
		text += " as " + l.Subject
	}
	switch {
	case l.Refreshable:
		text += ", renewed by itself"
	case l.ExpiresAt != nil && !now.Before(*l.ExpiresAt):
		text += ", ended " + l.ExpiresAt.Local().Format(time.DateTime)
	case l.ExpiresAt != nil:
		text += " until " + l.ExpiresAt.Local().Format(time.DateTime)
	}
	return text
}
