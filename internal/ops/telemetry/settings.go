package telemetry

import (
	"errors"
	"fmt"
	"net/url"

	"secateur/internal/secret"
)

// Settings say where traces go. The zero value makes none.
type Settings struct {
	OTLPEndpoint string                 `toml:"otlp_endpoint"` // "": no traces; else POST {otlp_endpoint}/v1/traces
	OTLPHeaders  map[string]secret.Text `toml:"otlp_headers"`
	ServiceName  string                 `toml:"service_name"`
	Sample       float64                `toml:"sample"` // of the requests that bring no decision with them
}

// Default is what a file that says nothing means.
func Default() Settings { return Settings{ServiceName: "secateur", Sample: 1} }

// Validate reports what is wrong.
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
