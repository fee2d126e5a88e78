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

// tokenSources are the OAuth sources for servers and providers. All connections to a server share
// one.
type tokenSources struct {
	mu  sync.Mutex
	all map[tokenUse]*oauth.Source
}

// tokenUse is the key of a source.
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

// logins returns this user's sign-ins.
func (a *App) logins() oauth.Logins { return oauth.Logins{Dir: a.stateFile("logins")} }

// tokenSource returns the token source for a server or a provider. URLs that the server names
// cannot lead into private networks.
func (gen *generation) tokenSource(id, resource string, set *oauth.Settings) *oauth.Source {
	var settings oauth.Settings
	if set != nil {
		settings = *set
	}
	return gen.sources.of(tokenUse{id, resource, settings}, func() *oauth.Source {
		configured, _ := url.Parse(resource) // already validated
		also, _ := url.Parse(settings.TokenURL)
		return oauth.NewSource(oauth.SourceOptions{
			Server: id, Resource: resource, Settings: settings, Logins: gen.logins(), HTTP: outbound.Client(configured, gen.cfg.Auth.Networks(), also),
		})
	})
}

// signIn configures the token for an HTTP server.
func (gen *generation) signIn(opt *upstream.Options) {
	set := opt.Settings
	if set.URL == "" {
		return
	}
	opt.Tokens, opt.LoginRequired = gen.tokenSource(set.ID, set.URL, set.OAuth), oauth.ErrLoginRequired
	opt.OwnToken = set.OAuth != nil && set.OAuth.Flow == oauth.FlowClientCredentials
	opt.LoginWanted = set.OAuth != nil && set.OAuth.Flow == oauth.FlowLogin
}

// providerTokens returns the token sources of providers by name, and the callbacks for tokens that
// a provider refused.
func (gen *generation) providerTokens() (all map[string]func(context.Context) (string, error), refused map[string]func(string)) {
	all, refused = map[string]func(context.Context) (string, error){}, map[string]func(string){}
	for name, p := range gen.cfg.Providers {
		if p.OAuth != nil {
			set := *p.OAuth
			set.Flow = oauth.FlowClientCredentials
			resource := p.BaseURL
			// The operator sets both URLs, so the token's audience is not checked.
			if set.TokenURL != "" {
				resource = ""
			}
			source := gen.tokenSource("provider:"+name, resource, &set)
			all[name], refused[name] = source.Token, source.Refused
		}
	}
	return all, refused
}

// followEvery is the interval of checks for new sign-ins.
const followEvery = time.Second

// followLogins retries servers that wait for a sign-in after a sign-in, until ctx is done.
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

// controlLogins lists the sign-ins.
func (a *App) controlLogins() ([]admin.Login, error) {
	list, err := a.logins().List()
	all := make([]admin.Login, len(list))
	for i, l := range list {
		all[i] = admin.Login(l)
	}
	return all, err
}
