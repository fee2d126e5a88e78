package proxy

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"secateur/internal/access/oauth"
	"secateur/internal/llm/bill"
	"secateur/internal/secret"
)

// Provider is an API that answers conversations.
type Provider struct {
	// Name of a format; "": by the provider's name and address.
	Format string `toml:"format" json:"format"`
	// /chat/completions, /messages or /responses is appended.
	BaseURL string `toml:"base_url" json:"base_url"`
	// empty: the client's own credentials are passed on.
	APIKey secret.Text `toml:"api_key" json:"api_key"`
	// nil: the built-in prices, by the model's name.
	Prices *bill.Prices `toml:"prices" json:"prices"`

	// How to treat an upgrade to WebSocket while conversations are cut; "": WebSocketRefuse.
	WebSocket string `toml:"websocket" json:"websocket"`

	// How to get a token in place of an APIKey; nil: none.
	OAuth *oauth.Settings `toml:"oauth" json:"oauth"`
}

// How to treat a Responses client that asks for WebSocket. Its messages are not read, so nothing is
// cut or booked.
const (
	WebSocketRefuse = "refuse" // tell it at once to use HTTP
	WebSocketPass   = "pass"   // connect it to the provider
)

// Model is a name that clients may use.
type Model struct {
	Provider string       `toml:"provider" json:"provider"`
	Model    string       `toml:"model" json:"model"`   // the provider's name of it; "": the same
	Prices   *bill.Prices `toml:"prices" json:"prices"` // nil: the provider's
}

// Validate reports every mistake as "key: text".
func (p Provider) Validate() error {
	_, err := p.parseBase()
	var errs []error
	if err != nil {
		errs = append(errs, fmt.Errorf("base_url: %w", err))
	}
	if _, ok := parseFormat(p.Format); !ok && p.Format != "" {
		errs = append(errs, fmt.Errorf("format: %q is none of %s", p.Format, strings.Join(formatNames, ", ")))
	}
	if p.WebSocket != "" && p.WebSocket != WebSocketRefuse && p.WebSocket != WebSocketPass {
		errs = append(errs, fmt.Errorf("websocket: %q is neither refuse nor pass", p.WebSocket))
	}
	if p.OAuth != nil {
		if p.OAuth.Flow == oauth.FlowLogin {
			errs = append(errs, errors.New("oauth.flow: a provider has no sign-in; use client_credentials"))
		}
		if p.OAuth.ClientID == "" || p.OAuth.ClientSecret.IsZero() {
			errs = append(errs, errors.New("oauth: client_id and client_secret are needed"))
		}
		if !p.APIKey.IsZero() {
			errs = append(errs, errors.New("oauth: and api_key are two ways to say the same; leave one out"))
		}
	}
	return errors.Join(append(errs, validatePrices(p.Prices))...)
}

// target returns the provider's name of a model that clients call by name.
func (m Model) target(name string) string {
	if m.Model == "" {
		return name
	}
	return m.Model
}

// Validate reports every mistake as "key: text".
func (m Model) Validate() error {
	var errs []error
	if m.Provider == "" {
		errs = append(errs, errors.New("provider: missing"))
	}
	return errors.Join(append(errs, validatePrices(m.Prices))...)
}

func validatePrices(p *bill.Prices) error {
	if p == nil {
		return nil
	}
	if err := p.Validate(); err != nil {
		return fmt.Errorf("prices: %w", err)
	}
	return nil
}

// parseBase parses the base URL. Its errors do not repeat it, because it may hold a password.
func (p Provider) parseBase() (*url.URL, error) {
	if p.BaseURL == "" {
		return nil, errors.New("missing")
	}
	u, err := url.Parse(p.BaseURL)
	switch {
	case err != nil:
		return nil, errors.New("not a URL")
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return nil, errors.New("not an http or https address")
	case u.User != nil:
		return nil, errors.New("a user in the address is not sent; use api_key")
	}
	return u, nil
}
