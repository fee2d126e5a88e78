package config

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"secateur/internal/access"
	"secateur/internal/access/auth"
	"secateur/internal/access/limit"
	"secateur/internal/access/pins"
	"secateur/internal/llm/chat"
	"secateur/internal/llm/hook"
	"secateur/internal/llm/proxy"
	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/routing"
	"secateur/internal/mcp/upstream"
	"secateur/internal/ops/capture"
	"secateur/internal/ops/telemetry"
	"secateur/internal/prune/pruner"
	"secateur/internal/secret"
	"secateur/internal/store/originals"
	"secateur/internal/store/redisdb"
)

// Settings are the whole configuration.
type Settings struct {
	Listen string `toml:"listen"` // of `serve`; host:port
	// host:port at which other replicas reach this one; "": the listener's.
	Advertise string `toml:"advertise"`
	// Further host names of the HTTP doors.
	AllowedHosts []string `toml:"allowed_hosts"`
	// Origins of web pages that may call.
	AllowedOrigins      []string      `toml:"allowed_origins"`
	LogLevel            string        `toml:"log_level"`             // see Level
	StructuredLogging   bool          `toml:"structured_logging"`    // one JSON object per line
	AuthToken           secret.Text   `toml:"auth_token"`            // empty: not required
	RateLimitPerMinute  int           `toml:"rate_limit_per_minute"` // 0: none
	HealthcheckInterval time.Duration `toml:"healthcheck_interval"`  // 0: off
	HealthcheckTimeout  time.Duration `toml:"healthcheck_timeout"`
	ResponseTimeout     time.Duration `toml:"response_timeout"` // for servers without their own
	PageSize            int           `toml:"page_size"`
	// From the stop signal until the listener closes.
	DrainDelay      time.Duration `toml:"drain_delay"`
	FirstListWait   time.Duration `toml:"first_list_wait"`
	SessionIdle     time.Duration `toml:"session_idle_timeout"`
	MaxMessageBytes int64         `toml:"max_message_bytes"` // of one MCP message
	MaxBodyBytes    int64         `toml:"max_body_bytes"`    // of one chat request
	// Limit for all requests in flight; 0: an eighth of the memory.
	MaxInFlightBytes int64  `toml:"max_in_flight_bytes"`
	DefaultProvider  string `toml:"default_provider"` // "": the only provider

	Naming             catalog.Settings          `toml:"naming"`
	Tools              catalog.ToolSettings      `toml:"tools"`
	Servers            []upstream.Settings       `toml:"servers"`
	ObservationMasking ObservationMasking        `toml:"observation_masking"`
	ContextPruning     chat.Pruning              `toml:"context_pruning"`
	Proof              proxy.Proof               `toml:"proof"`
	Hooks              hook.Settings             `toml:"hooks"`
	Pruner             pruner.Settings           `toml:"mcp_pruner"` // after loading its backend has one spelling: heuristic, deepinfra or rerank
	Store              originals.Settings        `toml:"store"`
	Auth               auth.Settings             `toml:"auth"`
	TLS                auth.TLS                  `toml:"tls"`
	ACL                []access.Rule             `toml:"acl"`
	Limits             []limit.Settings          `toml:"limits"`
	Telemetry          telemetry.Settings        `toml:"telemetry"`
	Providers          map[string]proxy.Provider `toml:"providers"`
	Models             map[string]proxy.Model    `toml:"models"`
	Notifications      routing.Settings          `toml:"notifications"`
	Admin              Admin                     `toml:"admin"`
	Pins               pins.Settings             `toml:"pins"`
	Import             Import                    `toml:"import"`
}

// defaults returns the settings of an empty file.
func defaults() Settings {
	return Settings{
		Listen:              "127.0.0.1:8000",
		LogLevel:            "INFO",
		HealthcheckInterval: 30 * time.Second,
		HealthcheckTimeout:  5 * time.Second,
		ResponseTimeout:     30 * time.Second,
		PageSize:            1000,
		FirstListWait:       firstListWait,
		SessionIdle:         30 * time.Minute,
		MaxMessageBytes:     32 << 20,
		MaxBodyBytes:        64 << 20,
		DrainDelay:          200 * time.Millisecond,
		Naming:              catalog.Default(),
		Tools:               catalog.DefaultTools(),
		ObservationMasking:  defaultObservationMasking(),
		ContextPruning:      chat.DefaultPruning(),
		Proof:               proxy.DefaultProof(),
		Hooks:               hook.Default(),
		Pruner:              pruner.Default(),
		Store:               originals.Default(),
		Auth:                auth.Default(),
		Pins:                pins.Default(),
		Admin:               Admin{Watch: true, Capture: capture.Default()},
		Telemetry:           telemetry.Default(),
	}
}

const firstListWait = 8 * time.Second

// WaitsForAll reports whether clients that list once wait for a server's startup_timeout. Any
// other first_list_wait than the default holds for all clients.
func (s Settings) WaitsForAll() bool { return s.FirstListWait == firstListWait }

// Level returns the log level for slog.
func (s Settings) Level() slog.Level {
	l, _ := parseLevel(s.LogLevel)
	return l
}

// parseLevel accepts the names of slog and two common aliases.
func parseLevel(name string) (slog.Level, bool) {
	switch strings.ToUpper(name) {
	case "DEBUG":
		return slog.LevelDebug, true
	case "INFO":
		return slog.LevelInfo, true
	case "WARN", "WARNING":
		return slog.LevelWarn, true
	case "ERROR", "CRITICAL":
		return slog.LevelError, true
	}
	return slog.LevelInfo, false
}

// Validate reports every mistake of the top level and every inconsistency between sections. Each
// section has its own Validate.
func (s Settings) Validate() error {
	errs := []error{
		s.validateListen(),
		s.validateAdvertise(),
		atLeast("rate_limit_per_minute", s.RateLimitPerMinute, 0),
		positive("healthcheck_timeout", s.HealthcheckTimeout),
		positive("response_timeout", s.ResponseTimeout),
		positive("session_idle_timeout", s.SessionIdle),
		atLeast("page_size", s.PageSize, 1),
		atLeast("max_message_bytes", s.MaxMessageBytes, 1024),
		atLeast("max_body_bytes", s.MaxBodyBytes, 1024),
		atLeast("max_in_flight_bytes", s.MaxInFlightBytes, 0),
	}
	if _, ok := parseLevel(s.LogLevel); !ok {
		errs = append(errs, fmt.Errorf("log_level: %q is none of DEBUG, INFO, WARN, ERROR", s.LogLevel))
	}
	for i, h := range s.AllowedHosts {
		if !isHost(h) {
			errs = append(errs, fmt.Errorf("allowed_hosts[%d]: expected a host name, with its port if it is not the usual one", i))
		}
	}
	for i, o := range s.AllowedOrigins {
		if !isOrigin(o) {
			errs = append(errs, fmt.Errorf("allowed_origins[%d]: expected an origin such as https://app.example, without a path", i))
		}
	}
	return errors.Join(errors.Join(errs...), s.validatePruner(), s.validateServerIDs(), s.validateProviderNames(), s.validateAccess())
}

func (s Settings) validateListen() error {
	host, port, err := net.SplitHostPort(s.Listen)
	if err != nil {
		return errors.New(`listen: expected host:port, such as "127.0.0.1:8000"`)
	}
	if p, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(p, 10) != port {
		return errors.New("listen: the port is not a number from 0 to 65535")
	}
	// The program checks at start whether the token file has any tokens.
	if !access.IsLoopback(host) && s.AuthToken.IsZero() && !s.Auth.Asks() && s.Auth.TokenFile == "" {
		return errors.New("listen: reachable from other machines, and nothing controls access; set auth_token, auth.token_file or another credential of [auth], or listen on 127.0.0.1")
	}
	if n := len(s.AuthToken.Reveal()); !access.IsLoopback(host) && n > 0 && n < minToken {
		return fmt.Errorf("listen: reachable from other machines, and auth_token has fewer than %d characters, which can be guessed; "+
			"make one with 'secateur token new', or listen on 127.0.0.1", minToken)
	}
	return nil
}

// minToken is the least length of a token that other machines can try to guess.
const minToken = 16

func (s Settings) validateAdvertise() error {
	if s.Advertise == "" {
		return nil
	}
	_, port, err := net.SplitHostPort(s.Advertise)
	if p, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil || p == 0 || !isHost(s.Advertise) {
		return errors.New(`advertise: expected host:port, such as "10.0.0.7:8000"`)
	}
	return nil
}

func (s Settings) validateServerIDs() error {
	var errs []error
	seen := map[string]bool{}
	for i, server := range s.Servers {
		switch {
		case server.ID == "":
		case seen[server.ID]:
			errs = append(errs, fmt.Errorf("servers[%d].id: %q is another server's id too", i, server.ID))
		case server.ID == OwnID:
			errs = append(errs, fmt.Errorf("servers[%d].id: %q is this program's own id; choose another", i, server.ID))
		case server.ID == PrunerID && s.Pruner.Enabled:
			errs = append(errs, fmt.Errorf("servers[%d].id: %q is the built-in pruner's id; choose another, or set enabled = false under mcp_pruner",
				i, server.ID))
		}
		seen[server.ID] = true
		if server.Builtin != "" && !slices.Contains(builtins, server.Builtin) {
			errs = append(errs, fmt.Errorf("servers[%d].builtin: there is none of this name; there is %s", i, among(builtins)))
		}
	}
	return errors.Join(errs...)
}

// builtins are the built-in servers that a file may use.
var builtins = []string{"demo"}

func (s Settings) validateProviderNames() error {
	var errs []error
	known := slices.Sorted(maps.Keys(s.Providers))
	unknown := func(key, name string) {
		if name == "" || slices.Contains(known, name) {
			return
		}
		hint := "there is no [providers] section"
		if len(known) > 0 {
			hint = "there is " + among(known)
		}
		errs = append(errs, fmt.Errorf("%s: no provider has the name %q; %s", key, name, hint))
	}
	unknown("default_provider", s.DefaultProvider)
	for _, name := range slices.Sorted(maps.Keys(s.Models)) {
		unknown(join(join("models", name), "provider"), s.Models[name].Provider)
	}
	return errors.Join(errs...)
}

// validateBudget reports the models that a money limit applies to and whose output has no known price. Models that
// no setting names are charged the dearest known price when they are asked for.
func (s Settings) validateBudget(key string, applies access.Globs) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(s.Providers)) {
		if p := s.Providers[name].Prices; p != nil && p.Input > 0 && p.Output == 0 {
			errs = append(errs, fmt.Errorf("%s: providers.%s.prices has no output; write output = DOLLARS per million tokens", key, name))
		}
	}
	named := slices.DeleteFunc(slices.Clone(applies), func(g string) bool { return strings.ContainsAny(g, "*?") })
	for model := range s.Models {
		if (len(applies) == 0 || applies.Match(model)) && !slices.Contains(named, model) {
			named = append(named, model)
		}
	}
	doors := proxy.Options{Providers: s.Providers, Models: s.Models, DefaultProvider: s.DefaultProvider}
	slices.Sort(named)
	for _, model := range named {
		prices, told := doors.PricesAt(model, "")
		if free := told && prices.Input == 0; prices.Output > 0 || free || told && s.Models[model].Prices == nil {
			continue // a provider's prices were reported above
		}
		errs = append(errs, fmt.Errorf("%s: the price of %s's output is not known; write output under [models.%q.prices]", key, model, model))
	}
	return errors.Join(errs...)
}

// isHost accepts a name or an address, with or without a port.
func isHost(s string) bool {
	if s == "" || strings.ContainsAny(s, "/@*?# \t") {
		return false
	}
	u, err := url.Parse("//" + s)
	return err == nil && u.Hostname() != "" && u.Host == s
}

func isOrigin(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme != "" && isHost(u.Host) && s == u.Scheme+"://"+u.Host
}

func atLeast[N int | int64 | float64](key string, value, least N) error {
	if value < least {
		return fmt.Errorf("%s: %v is less than %v", key, value, least)
	}
	return nil
}

func positive(key string, value time.Duration) error {
	if value <= 0 {
		return fmt.Errorf("%s: must be more than 0", key)
	}
	return nil
}

func httpURL(key, value string) error {
	u, err := url.Parse(value)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		// Never shown: it may contain a key.
		return fmt.Errorf("%s: expected a URL that starts with http:// or https://", key)
	}
	return nil
}

// among lists alternatives for people: a, b or c.
func among(values []string) string {
	values = slices.Clone(values)
	if len(values) < 2 {
		return strings.Join(values, "")
	}
	last := len(values) - 1
	return strings.Join(values[:last], ", ") + " or " + values[last]
}

// validateAccess checks rules and limits against each other.
func (s Settings) validateAccess() error {
	var errs []error
	seen := map[string]bool{}
	unique := func(key, name string) {
		if seen[name] {
			errs = append(errs, fmt.Errorf("%s: another rule or limit has the name %q", key, name))
		}
		seen[name] = true
	}
	for i, r := range s.ACL {
		unique(fmt.Sprintf("acl[%d].name", i), access.RuleName(r, i))
	}
	for i, l := range s.Limits {
		unique(fmt.Sprintf("limits[%d].name", i), limit.SettingsName(l, i))
		if l.Shared && !redisdb.IsURL(s.Store.URL) {
			errs = append(errs, fmt.Errorf("limits[%d].shared: replicas share a limit through store.url = \"redis://HOST\"", i))
		}
		if l.USDPerDay > 0 {
			errs = append(errs, s.validateBudget(fmt.Sprintf("limits[%d].usd_per_day", i), l.Model))
		}
	}
	return errors.Join(errs...)
}
