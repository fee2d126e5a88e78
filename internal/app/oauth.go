package app

import (
	"context"
	"net/url"
	"sync"
	"time"

	"secateur/internal/access/oauth"
	"secateur/internal/access/outbound"
	"secateur/internal/mcp/upstream"
	"secateur/internal/ops/admin"
)

// tokenSources are where tokens for servers and providers come from, one for all connections to a server.
type tokenSources struct {
	mu  sync.Mutex
	all map[tokenUse]*oauth.Source
}

// tokenUse is what a source is for.
type tokenUse struct {
	id, resource string
	settings     oauth.Settings
}

func (s *tokenSources) of(use tokenUse, make func() *oauth.Source) *oauth.Source {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[tokenUse]*oauth.Source{}
	}
	if s.all[use] == nil {
		s.all[use] = make()
	}
	return s.all[use]
}

// logins are the sign-ins of this user.
func (a *App) logins() oauth.Logins { return oauth.Logins{Dir: a.stateFile("logins")} }

// tokenSource gives the tokens for a server or a provider. Addresses that it names cannot lead into private networks.
func (gen *generation) tokenSource(id, resource string, set *oauth.Settings) *oauth.Source {
	var settings oauth.Settings
	if set != nil {
		settings = *set
	}
	return gen.sources.of(tokenUse{id, resource, settings}, func() *oauth.Source {
		configured, _ := url.Parse(resource) // as validated
		also, _ := url.Parse(settings.TokenURL)
		return oauth.NewSource(oauth.SourceOptions{
			Server: id, Resource: resource, Settings: settings, Logins: gen.logins(), HTTP: outbound.Client(configured, gen.cfg.Auth.Networks(), also),
		})
	})
}

// signIn lets a server over HTTP be shown a token.
func (gen *generation) signIn(opt *upstream.Options) {
	set := opt.Settings
	if set.URL == "" {
		return
	}
	opt.Tokens, opt.LoginRequired = gen.tokenSource(set.ID, set.URL, set.OAuth), oauth.ErrLoginRequired
	opt.OwnToken = set.OAuth != nil && set.OAuth.Flow == oauth.FlowClientCredentials
	opt.LoginWanted = set.OAuth != nil && set.OAuth.Flow == oauth.FlowLogin
}

// providerTokens are where tokens for providers come from, by name, and who is told of those that a provider did not take.
func (gen *generation) providerTokens() (all map[string]func(context.Context) (string, error), refused map[string]func(string)) {
	all, refused = map[string]func(context.Context) (string, error){}, map[string]func(string){}
	for name, p := range gen.cfg.Providers {
		if p.OAuth != nil {
			set := *p.OAuth
			set.Flow = oauth.FlowClientCredentials
			resource := p.BaseURL
			if set.TokenURL != "" { // who names both knows what they are for
				resource = ""
			}
			source := gen.tokenSource("provider:"+name, resource, &set)
			all[name], refused[name] = source.Token, source.Refused
		}
	}
	return all, refused
}

// followEvery is how often it is looked whether somebody has signed in.
const followEvery = time.Second

// followLogins has servers that wait for a sign-in try again once somebody has signed in, until ctx is done.
func (a *App) followLogins(ctx context.Context) error {
	if a.opt.StateDir == "" {
		return nil
	}
	seen := map[string]oauth.Mark{}
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		for _, st := range a.servers.Status() {
			mark := a.logins().Mark(st.ID)
			before, known := seen[st.ID]
			seen[st.ID] = mark
			if known && before != mark && st.State != upstream.Ready {
				if err := a.servers.Restart(ctx, st.ID); err != nil {
					a.log.DebugContext(ctx, "server not restarted after a sign-in", "server", st.ID, "err", err)
				}
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// controlLogins tells who is signed in.
func (a *App) controlLogins() ([]admin.Login, error) {
	list, err := a.logins().List()
	all := make([]admin.Login, len(list))
	for i, l := range list {
		all[i] = admin.Login(l)
	}
	return all, err
}
