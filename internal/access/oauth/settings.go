package oauth

import (
	"errors"
	"fmt"
	"net/url"

	"secateur/internal/secret"
)

// Settings is the section oauth of a server or a provider.
type Settings struct {
	// client_credentials | login; "": login, when the server asks
	Flow     string `toml:"flow" json:"flow"`
	TokenURL string `toml:"token_url" json:"token_url"` // "": discovered
	// "": the client registers itself; may be the address of client metadata
	ClientID     string      `toml:"client_id" json:"client_id"`
	ClientSecret secret.Text `toml:"client_secret" json:"client_secret"` // empty: a public client
	Scope        string      `toml:"scope" json:"scope"`                 // "": the server's choice
}

// The flows.
const (
	FlowClientCredentials = "client_credentials"
	FlowLogin             = "login"
)

// Validate reports every mistake.
func (s Settings) Validate() error {
	var errs []error
	if s.Flow != "" && s.Flow != FlowClientCredentials && s.Flow != FlowLogin {
		errs = append(errs, fmt.Errorf("flow: %q is neither %s nor %s", s.Flow, FlowClientCredentials, FlowLogin))
	}
	if s.Flow == FlowClientCredentials && (s.ClientID == "" || s.ClientSecret.IsZero()) {
		errs = append(errs, errors.New("flow: client_credentials needs client_id and client_secret"))
	}
	if s.TokenURL != "" {
		if u, err := url.Parse(s.TokenURL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			errs = append(errs, errors.New("token_url: expected a URL such as https://id.example/token"))
		}
	}
	return errors.Join(errs...)
}
