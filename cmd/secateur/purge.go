package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"secateur/internal/access"
	"secateur/internal/config"
	"secateur/internal/llm/hook"
	"secateur/internal/llm/proxy"
	"secateur/internal/secret"
	"secateur/internal/store/history"
	"secateur/internal/store/originals"
	"secateur/internal/store/records"
	"secateur/internal/store/redisdb"
)

// purged counts the deleted items.
type purged struct {
	Originals int   `json:"originals"`
	Bytes     int64 `json:"bytes"` // of the originals
	Records   int   `json:"records"`
	History   int   `json:"history"`  // files, one a process and day
	Sessions  int   `json:"sessions"` // of hooks
}

func newPurge(w world) *cobra.Command {
	var file, tenant string
	var yes, asJSON bool
	cmd := &cobra.Command{
		Use:   "purge [--tenant NAME] [--yes]",
		Short: "Delete what is kept on this machine: originals, records and history",
		Long: `purge deletes the texts that were cut, the forms in which results were sent, and the counters of
what was saved, all of this user on this machine. Markers in running conversations then lead
nowhere, and what was pruned is sent in another form, which a provider's cache misses once.
It asks first. With --tenant only originals and records of that tenant go: the history has no tenants.

No secateur of this user may run meanwhile. A store in Redis is left alone: other machines share it.`,
		Example: `  secateur purge --yes
  secateur purge --tenant team-a --yes`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			cfg, err := w.usable(file, "", usersOwn)
			if err != nil {
				return err
			}
			if redisdb.IsURL(cfg.Store.URL) {
				return fmt.Errorf("the store is %s, which other machines may share: delete it there", secret.URL(cfg.Store.URL))
			}
			if name := w.runningName(ctx, cfg); name != "" {
				return fmt.Errorf("a secateur runs (%s): stop it first, it would write again what is deleted", name)
			}
			dirs := w.keptDirs(cfg)
			if err := w.approvePurge(dirs, tenant, yes); err != nil {
				return err
			}
			done, err := w.purge(ctx, dirs, tenant)
			if asJSON {
				return errors.Join(json.NewEncoder(w.out).Encode(done), err)
			}
			fmt.Fprintf(w.out, "deleted %s (%d bytes), %s, %s of history, %s of hooks\n", plural(done.Originals, "original"), done.Bytes,
				plural(done.Records, "record"), plural(done.History, "file"), plural(done.Sessions, "session"))
			return err
		},
	}
	configFlag(cmd, &file)
	jsonFlag(cmd, &asJSON)
	cmd.Flags().StringVar(&tenant, "tenant", "", "delete only what belongs to the tenant of this `name`")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

// keptDirs are the directories of originals: the store, and the cache of 'secateur prune'.
func (w world) keptDirs(cfg *config.Config) (dirs []string) {
	set := cfg.Store
	if set.URL == "" && w.stateDir != "" {
		set.URL = "file:" + filepath.Join(w.stateDir, "store")
	}
	if dir, ok := (originals.Options{Settings: set, Base: cfg.Dir(), Home: w.home}).Dir(); ok {
		dirs = append(dirs, dir)
	}
	if w.cacheDir != "" {
		dirs = append(dirs, filepath.Join(w.cacheDir, "secateur", "originals"))
	}
	return dirs
}

// runningName names a program of this user that runs; "": none.
func (w world) runningName(ctx context.Context, cfg *config.Config) string {
	var all []*controlClient
	if own := w.listener(ctx, cfg); own != nil {
		all = append(all, own)
	}
	for _, path := range w.sockets() {
		all = append(all, &controlClient{name: path, base: "http://secateur", http: newClient(overSocket(path), nil)})
	}
	for _, c := range all {
		if c.greet(ctx) == nil {
			return c.name
		}
	}
	for _, path := range newestFirst(filepath.Join(hook.SocketDir(w.stateDir), "*.sock")) {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		conn, err := overSocket(path)(ctx, "", "")
		cancel()
		if err == nil {
			_ = conn.Close()
			return path
		}
	}
	return ""
}

func (w world) approvePurge(dirs []string, tenant string, yes bool) error {
	if yes {
		return nil
	}
	if !w.asks {
		return errors.New("nothing was deleted: there is no terminal to ask on; --yes deletes")
	}
	whose := "of all tenants"
	if tenant != "" {
		whose = "of the tenant " + tenant
	}
	fmt.Fprintf(w.err, "Delete what is kept %s in %s and %s? It cannot be restored. [y/N] ", whose, strings.Join(dirs, ", "), w.stateDir)
	answer, _ := bufio.NewReader(w.in).ReadString('\n')
	if a := strings.ToLower(strings.TrimSpace(answer)); a == "y" || a == "yes" {
		return nil
	}
	return errors.New("nothing was deleted")
}

// purge returns the deleted items also if it fails.
func (w world) purge(ctx context.Context, dirs []string, tenant string) (done purged, err error) {
	owner := (&access.Principal{Tenant: tenant}).Owner()
	ofTenant := strings.NewReplacer("%", "%25", "/", "%2F").Replace(owner) // as keys of records have it
	for _, dir := range dirs {
		var count int
		var bytes int64
		isWanted := func(string) bool { return true }
		if tenant == "" {
			count, bytes, err = originals.PurgeAll(ctx, dir)
		} else {
			count, bytes, err = originals.PurgeTenant(ctx, dir, owner)
			isWanted = func(key string) bool {
				return strings.Contains(key, "/") && !strings.HasPrefix(key, "task ") && proxy.TenantOf(key) == ofTenant
			}
		}
		done.Originals, done.Bytes = done.Originals+count, done.Bytes+bytes
		if err != nil {
			return done, err
		}
		count, err = records.Purge(filepath.Join(dir, "records"), isWanted)
		if done.Records += count; err != nil {
			return done, err
		}
	}
	if tenant != "" || w.stateDir == "" {
		return done, nil
	}
	if done.History, err = history.Purge(filepath.Join(w.stateDir, "history")); err != nil {
		return done, err
	}
	sessions := hook.SessionDir(w.stateDir)
	entries, _ := os.ReadDir(sessions)
	done.Sessions = len(entries)
	return done, os.RemoveAll(sessions)
}
