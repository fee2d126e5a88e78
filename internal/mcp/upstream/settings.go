package upstream

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"secateur/internal/access/oauth"
	"secateur/internal/mcp/confine"
	"secateur/internal/secret"
)

// Settings configure one server. Exactly one of Command, URL and Builtin is set. A zero duration
// means its default.
type Settings struct {
	ID string `toml:"id" json:"id"`
	// program and arguments of a child process
	Command []string `toml:"command" json:"command"`
	// added to the child's minimal environment
	Env map[string]secret.Text `toml:"env" json:"env"`
	// further variables of ours that the child gets, as path.Match patterns
	PassEnv []string `toml:"pass_env" json:"pass_env"`
	// working directory of the child; empty: ours
	Cwd string `toml:"cwd" json:"cwd"`
	// what the child may touch; nil: all that we may
	Sandbox *confine.Settings `toml:"sandbox" json:"sandbox"`
	// start it only if the system can enforce its whole sandbox
	SandboxRequired bool `toml:"sandbox_required" json:"sandbox_required"`
	// listed, but never started or called
	Disabled bool `toml:"disabled" json:"disabled"`
	// it came from elsewhere: listed, but not started or called until it is approved
	Held bool `toml:"held" json:"held"`
	// limit from start to the end of the handshake; 0: 20 s
	StartupTimeout time.Duration `toml:"startup_timeout" json:"startup_timeout"`
	// time between the steps of stopping a child; 0: 3 s
	ShutdownGrace time.Duration `toml:"shutdown_grace" json:"shutdown_grace"`
	// limit without an answer or progress; 0: the global timeout
	ResponseTimeout time.Duration `toml:"response_timeout" json:"response_timeout"`
	// auto (default) | legacy | modern
	Protocol string `toml:"protocol" json:"protocol"`
	// shared (default) | per-session
	Isolation string `toml:"isolation" json:"isolation"`
	// framing of a child's messages: line (default) | content-length
	Framing string `toml:"framing" json:"framing"`
	// false: results are never cut; nil: true
	Mask *bool `toml:"mask" json:"mask"`
	// tools whose results are never cut, as path.Match patterns
	MaskExempt []string `toml:"mask_exempt" json:"mask_exempt"`
	// tools get an optional argument that says what the model looks for in a result
	Focus bool `toml:"focus" json:"focus"`
	// tools that clients may have, as path.Match patterns; none: all
	Tools []string `toml:"tools" json:"tools"`
	// tools that clients may not have, as path.Match patterns
	ExcludeTools []string `toml:"exclude_tools" json:"exclude_tools"`
	// address of a server reached over HTTP
	URL string `toml:"url" json:"url"`
	// with URL: http (default) | sse | rpc
	Transport string `toml:"transport" json:"transport"`
	// sent with every HTTP request to URL
	Headers map[string]secret.Text `toml:"headers" json:"headers"`
	// how to get a token for URL; nil: by a sign-in once the server asks
	OAuth *oauth.Settings `toml:"oauth" json:"oauth"`
	// name of a server built into this program
	Builtin string `toml:"builtin" json:"builtin"`
	// why it cannot be started on this machine; "": it can
	Unready string `toml:"-" json:"-"`
}

// Valid values of Settings fields.
const (
	ProtocolAuto   = "auto"
	ProtocolLegacy = "legacy"
	ProtocolModern = "modern"

	IsolationShared     = "shared"
	IsolationPerSession = "per-session"

	FramingLine          = "line"
	FramingContentLength = "content-length"

	TransportHTTP = "http"
	TransportSSE  = "sse"
	TransportRPC  = "rpc"
)

// Defaults for Settings fields that are zero.
const (
	DefaultStartupTimeout = 20 * time.Second
	DefaultShutdownGrace  = 3 * time.Second
)

// maxWait is one day. A longer timeout is a mistake in the configuration.
const maxWait = 24 * time.Hour

// Off reports whether the server is listed, but never started or called.
func (s Settings) Off() bool { return s.Disabled || s.Held }

// Masked reports whether results of this tool may be cut.
func (s Settings) Masked(tool string) bool {
	if s.Mask != nil && !*s.Mask {
		return false
	}
	return !matchesAny(s.MaskExempt, tool)
}

// Offers reports whether clients may have this tool.
func (s Settings) Offers(tool string) bool {
	return (len(s.Tools) == 0 || matchesAny(s.Tools, tool)) && !matchesAny(s.ExcludeTools, tool)
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}

// Validate reports every mistake as "key: text".
func (s Settings) Validate() error {
	if s.Unready != "" {
		return s.validateID() // its other keys may be empty for the same reason
	}
	errs := []error{
		s.validateID(),
		s.validateKind(),
		oneOf("protocol", s.Protocol, ProtocolAuto, ProtocolLegacy, ProtocolModern),
		oneOf("isolation", s.Isolation, IsolationShared, IsolationPerSession),
		oneOf("framing", s.Framing, FramingLine, FramingContentLength),
		oneOf("transport", s.Transport, TransportHTTP, TransportSSE, TransportRPC),
		validateWait("startup_timeout", s.StartupTimeout),
		validateWait("shutdown_grace", s.ShutdownGrace),
		validateWait("response_timeout", s.ResponseTimeout),
	}
	errs = append(errs, validatePatterns("mask_exempt", s.MaskExempt), validatePatterns("pass_env", s.PassEnv),
		validatePatterns("tools", s.Tools), validatePatterns("exclude_tools", s.ExcludeTools))
	return errors.Join(errs...)
}

func validatePatterns(key string, patterns []string) error {
	var errs []error
	for i, pattern := range patterns {
		if _, err := path.Match(pattern, ""); err != nil {
			errs = append(errs, fmt.Errorf("%s[%d]: %q is not a pattern: %w", key, i, pattern, err))
		}
	}
	return errors.Join(errs...)
}

func (s Settings) validateID() error {
	if s.ID == "" {
		return errors.New("id: missing")
	}
	for _, r := range s.ID {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' {
			return fmt.Errorf("id: %q has characters other than letters, digits, - and _", s.ID)
		}
	}
	return nil
}

// validateKind checks that exactly one way to reach the server is set, and no setting of another
// way.
func (s Settings) validateKind() error {
	var given []string
	for _, k := range []struct {
		key string
		has bool
	}{{"command", len(s.Command) > 0}, {"url", s.URL != ""}, {"builtin", s.Builtin != ""}} {
		if k.has {
			given = append(given, k.key)
		}
	}
	if len(given) == 0 {
		return errors.New("command: missing; a server has a command or a url")
	}
	if len(given) > 1 {
		return fmt.Errorf("%s: given beside %s; a server has one of them", given[1], given[0])
	}
	errs := []error{s.validateCommand(), s.validateURL()}
	if s.URL == "" {
		if s.Transport != "" {
			errs = append(errs, errors.New("transport: is for a server with a url"))
		}
		if len(s.Headers) > 0 {
			errs = append(errs, errors.New("headers: are for a server with a url"))
		}
		if s.OAuth != nil {
			errs = append(errs, errors.New("oauth: is for a server with a url"))
		}
	}
	if len(s.Command) == 0 {
		if len(s.Env) > 0 {
			errs = append(errs, errors.New("env: is for a server with a command"))
		}
		if len(s.PassEnv) > 0 {
			errs = append(errs, errors.New("pass_env: is for a server with a command"))
		}
		if s.Cwd != "" {
			errs = append(errs, errors.New("cwd: is for a server with a command"))
		}
		if s.Sandbox != nil || s.SandboxRequired {
			errs = append(errs, errors.New("sandbox: is for a server with a command"))
		}
		if s.Framing != "" && s.Framing != FramingLine {
			errs = append(errs, errors.New("framing: is for a server with a command"))
		}
	}
	return errors.Join(errs...)
}

func (s Settings) validateCommand() error {
	if len(s.Command) == 0 {
		return nil
	}
	var errs []error
	if s.Command[0] == "" {
		errs = append(errs, errors.New("command[0]: the program's name is empty"))
	}
	for i, arg := range s.Command {
		if strings.ContainsRune(arg, 0) {
			errs = append(errs, fmt.Errorf("command[%d]: has a NUL character", i))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			errs = append(errs, fmt.Errorf("env: %q is not a variable's name", name))
		} else if strings.ContainsRune(s.Env[name].Reveal(), 0) {
			errs = append(errs, fmt.Errorf("env.%s: has a NUL character", name))
		}
	}
	if strings.ContainsRune(s.Cwd, 0) {
		errs = append(errs, errors.New("cwd: has a NUL character"))
	}
	return errors.Join(errs...)
}

func (s Settings) validateURL() error {
	if s.URL == "" {
		return nil
	}
	var errs []error
	u, err := url.Parse(s.URL)
	switch { // the address may contain a token, so it is never shown
	case err != nil:
		errs = append(errs, errors.New("url: is not a URL"))
	case u.Scheme != "http" && u.Scheme != "https":
		errs = append(errs, errors.New("url: must start with http:// or https://"))
	case u.Hostname() == "":
		errs = append(errs, errors.New("url: has no host"))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		switch {
		case !isHeaderName(name):
			errs = append(errs, fmt.Errorf("headers: %q is not a header's name", name))
		case slices.Contains(ownHeaders, strings.ToLower(name)):
			errs = append(errs, fmt.Errorf("headers.%s: is set by the protocol", name))
		case !isHeaderValue(s.Headers[name].Reveal()):
			errs = append(errs, fmt.Errorf("headers.%s: has a character that a header may not have", name))
		}
	}
	return errors.Join(errs...)
}

// ownHeaders are the headers that we set ourselves, in lower case.
var ownHeaders = []string{
	"accept", "accept-encoding", "connection", "content-encoding", "content-length", "content-type", "host", "last-event-id",
	"mcp-method", "mcp-name", "mcp-protocol-version", "mcp-session-id", "te", "trailer", "transfer-encoding", "upgrade",
}

func isHeaderName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

func isHeaderValue(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

func oneOf(key, value string, allowed ...string) error {
	if value == "" || slices.Contains(allowed, value) {
		return nil
	}
	return fmt.Errorf("%s: %q is none of %s", key, value, strings.Join(allowed, ", "))
}

func validateWait(key string, value time.Duration) error {
	switch {
	case value < 0:
		return fmt.Errorf("%s: %v is negative", key, value.Seconds())
	case value > maxWait:
		return fmt.Errorf("%s: %v is more than a day", key, value.Seconds())
	}
	return nil
}

// orDefault returns a duration, or its default if it is zero.
func orDefault(value, fallback time.Duration) time.Duration {
	if value == 0 {
		return fallback
	}
	return max(value, time.Millisecond)
}
