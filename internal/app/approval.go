package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"secateur/internal/config"
	"secateur/internal/mcp/confine"
	"secateur/internal/mcp/upstream"
	"secateur/internal/ops/admin"
	"secateur/internal/secret"
	"secateur/internal/store/atomicfile"
)

// approvals are the held servers that a person has approved: their ids by a hash of what they run.
type approvals map[string]string

// approvalOf returns the hash of everything that decides what a server runs and reaches. Values of
// credentials are left out, so that they can be renewed.
func approvalOf(set upstream.Settings) string {
	seen := struct {
		ID, Cwd, URL, Transport   string
		Command, PassEnv, Headers []string
		Env                       map[string]string
		Sandbox                   *confine.Settings
		Required                  bool
	}{
		ID: set.ID, Cwd: set.Cwd, URL: set.URL, Transport: set.Transport, Command: set.Command, PassEnv: set.PassEnv,
		Headers: slices.Sorted(maps.Keys(set.Headers)), Env: map[string]string{}, Sandbox: set.Sandbox, Required: set.SandboxRequired,
	}
	for name, value := range set.Env {
		if credential.MatchString(name) {
			value = secret.New("")
		}
		seen.Env[name] = value.Reveal()
	}
	b, err := json.Marshal(seen) //nolint:musttag // it is hashed and never read back
	if err != nil {
		panic("app: " + err.Error()) // strings and numbers
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// credential matches the names of variables that hold secrets.
var credential = regexp.MustCompile(`(?i)(TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_?KEY|CREDENTIAL)`)

func approvalFile(stateDir string) string { return filepath.Join(stateDir, "approved.json") }

func readApprovals(stateDir string) (approvals, error) {
	known := approvals{}
	if stateDir == "" {
		return known, nil
	}
	b, err := os.ReadFile(approvalFile(stateDir))
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &known)
	}
	if err != nil {
		return approvals{}, fmt.Errorf("%s: %w", approvalFile(stateDir), err)
	}
	return known, nil
}

// Release lets those held servers of a configuration start that a person has approved as they are,
// or all of them with import.trust. If the approvals cannot be read, none is released.
func Release(stateDir string, cfg *config.Config) error {
	known, err := readApprovals(stateDir)
	for i, s := range cfg.Servers {
		if s.Held && (cfg.Import.Trust || known[approvalOf(s)] != "") {
			cfg.Servers[i].Held = false
		}
	}
	return err
}

// Approve records that a server may run as it is configured now.
func Approve(stateDir string, set upstream.Settings) error {
	if stateDir == "" {
		return errors.New("there is no state directory to keep the approval in; set XDG_STATE_HOME")
	}
	known, err := readApprovals(stateDir)
	if err != nil {
		return err
	}
	maps.DeleteFunc(known, func(_, id string) bool { return id == set.ID })
	known[approvalOf(set)] = set.ID
	b, err := json.MarshalIndent(known, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(stateDir, 0o700); err != nil {
		return err
	}
	return atomicfile.Replace(approvalFile(stateDir), append(b, '\n'), true)
}

// Approve approves a held server for the control plane and starts it.
func (e *serverEditor) Approve(ctx context.Context, id string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	servers := e.a.loaded.Load().Servers
	i := slices.IndexFunc(servers, func(s upstream.Settings) bool { return s.ID == id })
	if i < 0 || !servers[i].Held {
		return admin.NewProblem(http.StatusConflict, admin.CodeInvalidRequest, fmt.Sprintf("server %q is not held", id), "")
	}
	if err := Approve(e.a.opt.StateDir, servers[i]); err != nil {
		return readOnly(err.Error(), "")
	}
	_, err := e.a.controlReload(ctx, false)
	return err
}
