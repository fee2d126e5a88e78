package telemetry

import (
	"errors"
	"fmt"
	"net/url"

	"secateur/internal/secret"
)

// Settings configure tracing. The zero value disables it.
type Settings struct {
	// "": no traces; else POST {otlp_endpoint}/v1/traces
	OTLPEndpoint string                 `toml:"otlp_endpoint"`
	OTLPHeaders  map[string]secret.Text `toml:"otlp_headers"`
	ServiceName  string                 `toml:"service_name"`
	// fraction of requests that carry no sampling decision
	Sample float64 `toml:"sample"`
}

// Default returns the defaults.
func Default() Settings { return Settings{ServiceName: "secateur", Sample: 1} }

// Validate reports every mistake.
func (s Settings) Validate() error {
	var errs []error
	if s.OTLPEndpoint != "" {
		if u, err := url.Parse(s.OTLPEndpoint); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			errs = append(errs, errors.New("otlp_endpoint: not an http or https address, such as http://127.0.0.1:4318"))
		}
	}
	if !(s.Sample >= 0 && s.Sample <= 1) {
		errs = append(errs, fmt.Errorf("sample: %v is not between 0 and 1", s.Sample))
	}
	if s.ServiceName == "" && s.OTLPEndpoint != "" {
		errs = append(errs, errors.New("service_name: empty, so that nobody could tell whose traces they are"))
	}
	return errors.Join(errs...)
}
