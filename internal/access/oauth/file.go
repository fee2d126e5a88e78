package oauth

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"secateur/internal/store/atomicfile"
)

// Login is a person's stored sign-in with a server.
type Login struct {
	Server        string    `json:"server"`
	Resource      string    `json:"resource"` // the only recipient of its tokens
	Issuer        string    `json:"issuer"`
	Subject       string    `json:"subject"`
	TokenEndpoint string    `json:"token_endpoint"`
	AuthMethods   []string  `json:"auth_methods,omitempty"`
	Client        Client    `json:"client"`
	Scope         string    `json:"scope,omitempty"`
	AccessToken   string    `json:"access_token"`
	RefreshToken  string    `json:"refresh_token,omitempty"`
	IssuedAt      time.Time `json:"issued_at"`
	ExpiresAt     time.Time `json:"expires_at,omitzero"`
}

// Shown is a Login without secrets, for display.
type Shown struct {
	Server      string     `json:"server"`
	Issuer      string     `json:"issuer"`
	Subject     string     `json:"subject"`
	ExpiresAt   *time.Time `json:"expires_at"` // nil: unknown
	Refreshable bool       `json:"refreshable"`
}

// ErrNoLogin means that no sign-in with a server is stored.
var ErrNoLogin = errors.New("nobody is signed in with this server")

// Logins are a user's sign-ins, one file each in a directory.
type Logins struct{ Dir string }

func (l Logins) path(server string) string { return filepath.Join(l.Dir, server+".json") }

// Read reads a sign-in.
func (l Logins) Read(server string) (Login, error) {
	var login Login
	data, err := os.ReadFile(l.path(server))
	if l.Dir == "" || errors.Is(err, fs.ErrNotExist) {
		return login, ErrNoLogin
	}
	if err == nil {
		err = json.Unmarshal(data, &login)
	}
	if err != nil {
		return login, fmt.Errorf("sign-in with %s: %w", server, err)
	}
	return login, nil
}

// Write stores a sign-in, readable only by its owner.
func (l Logins) Write(login Login) error {
	if l.Dir == "" {
		return errors.New("there is no state directory to keep a sign-in in")
	}
	data, err := json.MarshalIndent(login, "", "  ") //nolint:gosec // tokens are stored here
	if err != nil {
		return err
	}
	if err := atomicfile.Replace(l.path(login.Server), append(data, '\n'), true); err != nil {
		return fmt.Errorf("sign-in with %s: %w", login.Server, err)
	}
	return nil
}

// Remove deletes a sign-in.
func (l Logins) Remove(server string) error {
	err := os.Remove(l.path(server))
	if l.Dir == "" || errors.Is(err, fs.ErrNotExist) {
		return ErrNoLogin
	}
	return err
}

// List returns all sign-ins, ordered by server.
func (l Logins) List() ([]Shown, error) {
	all := []Shown{}
	entries, err := os.ReadDir(l.Dir)
	if l.Dir == "" || errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, fmt.Errorf("sign-ins: %w", err)
	}
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || strings.HasPrefix(id, ".") {
			continue
		}
		login, err := l.Read(id)
		if err != nil {
			return nil, err
		}
		s := Shown{Server: login.Server, Issuer: login.Issuer, Subject: login.Subject, Refreshable: login.RefreshToken != ""}
		if !login.ExpiresAt.IsZero() {
			s.ExpiresAt = &login.ExpiresAt
		}
		all = append(all, s)
	}
	return all, nil
}

// Mark identifies a state of a server's sign-in. The zero value means none.
type Mark struct {
	modified time.Time
	size     int64
}

// Mark returns the state of a server's sign-in.
func (l Logins) Mark(server string) (m Mark) {
	if info, err := os.Stat(l.path(server)); err == nil {
		m.modified, m.size = info.ModTime(), info.Size()
	}
	return m
}
