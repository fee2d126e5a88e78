package config

import (
	"errors"
	"net/netip"
	"strings"
)

// PrunerID is the server id of the built-in pruner while it is enabled.
const PrunerID = "pruner"

// OwnID is the server id of the program's own resource templates.
const OwnID = "secateur"

// The names of the pruner's backends.
const (
	backendHeuristic = "heuristic"
	backendDeepInfra = "deepinfra"
	backendCloud     = "cloud" // an alias of deepinfra
	backendRerank    = "rerank"
)

// oneBackendName returns the canonical name of a backend.
func oneBackendName(word string) string {
	word = strings.ToLower(strings.TrimSpace(word))
	if word == backendCloud {
		return backendDeepInfra
	}
	return word
}

// validatePruner checks the settings that the pruner itself does not: its listener and its
// backend's URLs.
func (s Settings) validatePruner() error {
	var errs []error
	host := s.Pruner.Host
	if _, err := netip.ParseAddr(host); host != "" && err != nil && (!isHost(host) || strings.Contains(host, ":")) {
		errs = append(errs, errors.New("mcp_pruner.host: expected a host name or an address"))
	}
	if s.Pruner.DeepInfraURL != "" {
		errs = append(errs, httpURL("mcp_pruner.deepinfra_url", s.Pruner.DeepInfraURL))
	}
	return errors.Join(errs...)
}

// warnBackend warns about a backend that cannot work.
func (d *decoder) warnBackend(s Settings) {
	missing := ""
	switch {
	case s.Pruner.Backend == backendDeepInfra && s.Pruner.DeepInfraAPIKey.IsZero():
		missing = "DEEPINFRA_API_KEY is not set"
	case s.Pruner.Backend == backendRerank && s.Pruner.RerankURL == "":
		missing = "neither rerank_url nor SECATEUR_RERANK_URL is set"
	default:
		return
	}
	d.warn(spot{place: d.locate("mcp_pruner.backend")}, "%s: every call will fall back to the heuristic", missing)
}
