package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"secateur/internal/access/oauth"
	"secateur/internal/access/outbound"
	"secateur/internal/mcp/upstream"
	"secateur/internal/ops/admin"
)

// signInTime is how long a person has to sign in with a server.
const signInTime = 10 * time.Minute

// signIns are the sign-ins that the control plane has started, one per server.
type signIns struct {
	working sync.WaitGroup

	mu  sync.Mutex // guards the fields below
	all map[string]*pendingSignIn
}

// pendingSignIn is one of them. It is guarded by signIns.mu.
type pendingSignIn struct {
	cancel  context.CancelFunc
	ended   bool
	address string // to open; "": not known yet
	err     error  // why it failed
}

// begin starts a sign-in with a server and returns the address for the person to open. It cancels
// an earlier one.
func (s *signIns) begin(ctx context.Context, with oauth.SignIn, keep func(oauth.Login) error) (string, error) {
	running, cancel := context.WithTimeout(context.WithoutCancel(ctx), signInTime)
	one := &pendingSignIn{cancel: cancel}
	s.mu.Lock()
	if s.all == nil {
		s.all = map[string]*pendingSignIn{}
	}
	if before := s.all[with.Server]; before != nil {
		before.cancel()
	}
	s.all[with.Server] = one
	s.mu.Unlock()
	shown, ended := make(chan string, 1), make(chan error, 1)
	with.Show = func(address string) {
		s.mu.Lock()
		one.address = address
		s.mu.Unlock()
		shown <- address
	}
	s.working.Go(func() {
		defer cancel()
		login, err := with.Run(running)
		if err == nil {
			err = keep(login)
		}
		s.mu.Lock()
		one.ended, one.err = true, err
		s.mu.Unlock()
		ended <- err
	})
	select {
	case address := <-shown:
		return address, nil
	case err := <-ended:
		if err == nil {
			err = errors.New("it ended before anybody could sign in")
		}
		return "", err
	case <-ctx.Done():
		cancel()
		return "", ctx.Err()
	}
}

// state returns the progress of the sign-in with a server.
func (s *signIns) state(server string) admin.SignIn {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.all[server]
	switch {
	case one == nil:
		return admin.SignIn{State: admin.SignInNone}
	case !one.ended:
		return admin.SignIn{State: admin.SignInWaiting, URL: one.address}
	case one.err != nil:
		return admin.SignIn{State: admin.SignInFailed, Error: one.err.Error()}
	}
	return admin.SignIn{State: admin.SignInDone}
}

// giveUp cancels the sign-in with a server, if one is pending.
func (s *signIns) giveUp(server string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.all[server]; one != nil {
		one.cancel()
		delete(s.all, server)
	}
}

// Close cancels them all and waits for them.
func (s *signIns) Close() error {
	s.mu.Lock()
	for _, one := range s.all {
		one.cancel()
	}
	s.mu.Unlock()
	s.working.Wait()
	return nil
}

// beginSignIn lets a person sign in with a server. The person opens the returned address, which
// redirects to our listener on loopback.
func (a *App) beginSignIn(ctx context.Context, id string) (string, error) {
	gen := a.live.Load()
	refuse := func(status int, detail, hint string) error {
		return admin.NewProblem(status, admin.CodeInvalidRequest, detail, hint)
	}
	i := slices.IndexFunc(gen.cfg.Servers, func(s upstream.Settings) bool { return s.ID == id })
	switch {
	case i < 0 || gen.cfg.Servers[i].URL == "":
		return "", refuse(http.StatusConflict, fmt.Sprintf("the server %s has no url: there is nothing to sign in with", id), "")
	case a.opt.StateDir == "":
		return "", refuse(http.StatusConflict, "there is no state directory to keep a sign-in in", "set XDG_STATE_HOME, or HOME")
	}
	set := gen.cfg.Servers[i]
	with := oauth.SignIn{Server: id, Resource: set.URL, Version: a.opt.Version}
	if set.OAuth != nil {
		with.Settings = *set.OAuth
	}
	if with.Settings.Flow == oauth.FlowClientCredentials {
		return "", refuse(http.StatusConflict, fmt.Sprintf("the server %s is set to client_credentials: nobody has to sign in", id), "")
	}
	configured, _ := url.Parse(set.URL) // already validated
	also, _ := url.Parse(with.Settings.TokenURL)
	with.HTTP = outbound.Client(configured, gen.cfg.Auth.Networks(), also)
	address, err := a.signIns.begin(ctx, with, a.logins().Write)
	if err != nil {
		return "", admin.NewProblem(http.StatusBadGateway, admin.CodeSignInFailed, fmt.Sprintf("sign-in with %s: %v", id, err), "'secateur login "+id+"' does the same at a terminal")
	}
	return address, nil
}

// signOut deletes the sign-in with a server, including a pending one.
func (a *App) signOut(id string) error {
	a.signIns.giveUp(id)
	err := a.logins().Remove(id)
	if errors.Is(err, oauth.ErrNoLogin) {
		return nil // already signed out
	}
	return err
}
