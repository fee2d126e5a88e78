package doctor

import (
	"context"
	"encoding/json"
	"maps"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"secateur/internal/access"
)

// Door is the chat part of the configuration.
type Door struct {
	Listen           string // its address
	Messages, Others bool   // a provider speaks Anthropic's format, or one of OpenAI's
}

// Files are settings of clients that may contain a base URL. "": none.
type Files struct{ Claude, Codex, OpenCode string }

// baseURL is a setting with the address of a model provider.
type baseURL struct {
	subject, text string
	suffix        string // path that the client expects, and extends
	key, keyName  string // key in the environment; keyName "": the file decides
	isMessages    bool   // the client speaks Anthropic's format there
}

// CheckBaseURLs checks the variables and files with a provider's address, if they point at us.
// Claude Code's settings.json overrides the shell. Claude Code and Anthropic's SDKs add /v1
// themselves, OpenAI's and OpenCode do not.
func CheckBaseURLs(d Door, files Files, lookup func(string) (string, bool)) Check {
	return func(context.Context) (found []Finding) {
		env := claudeEnv(files.Claude)
		value := func(name string) string {
			if text, ok := env[name]; ok {
				return text
			}
			text, _ := lookup(name)
			return text
		}
		all := []baseURL{
			{"ANTHROPIC_BASE_URL", value("ANTHROPIC_BASE_URL"), "", value("ANTHROPIC_API_KEY"), "ANTHROPIC_API_KEY", true},
			{"OPENAI_BASE_URL", value("OPENAI_BASE_URL"), "/v1", value("OPENAI_API_KEY"), "OPENAI_API_KEY", false},
			{"OPENAI_API_BASE", value("OPENAI_API_BASE"), "/v1", value("OPENAI_API_KEY"), "OPENAI_API_KEY", false},
		}
		for _, b := range slices.Concat(all, codexURLs(files.Codex), openCodeURLs(files.OpenCode)) {
			if f, ok := d.judge(b); ok {
				found = append(found, f)
			}
		}
		return found
	}
}

// judge checks one base URL. It is not ok if the URL does not point at us.
func (d Door) judge(b baseURL) (f Finding, ok bool) {
	_, port, _ := net.SplitHostPort(d.Listen)
	base, err := url.Parse(b.text)
	if err != nil || !access.IsLoopback(base.Hostname()) || base.Port() != port {
		return f, false
	}
	isServed, provider := d.Others, "[providers.openai]"
	if b.isMessages {
		isServed, provider = d.Messages, "[providers.anthropic]"
	}
	f = Finding{Check: Client, Subject: b.subject, Level: OK, Cause: "points at " + base.Host}
	switch {
	case strings.TrimSuffix(base.Path, "/") != b.suffix:
		f.Level, f.Cause = Fail, "its path is "+quotedPath(base.Path)+", where clients expect "+quotedPath(b.suffix)
		f.Fix = "set " + b.subject + " to " + base.Scheme + "://" + base.Host + b.suffix
	case !isServed:
		f.Level, f.Cause, f.Fix = Fail, "points at "+base.Host+", and no provider here speaks its format", "add "+provider+" to the configuration"
	case b.keyName != "" && b.key == "":
		f.Cause += "; " + b.keyName + " is not set, so the client signs in by itself, or the provider's api_key counts"
	}
	return f, true
}

// codexURLs returns the base URLs in a config.toml of Codex.
func codexURLs(file string) (all []baseURL) {
	var settings struct {
		BaseURL   string `toml:"openai_base_url"`
		Providers map[string]struct {
			BaseURL string `toml:"base_url"`
		} `toml:"model_providers"`
	}
	if data, err := os.ReadFile(file); err != nil || toml.Unmarshal(data, &settings) != nil {
		return nil
	}
	all = append(all, baseURL{subject: "openai_base_url of " + file, text: settings.BaseURL, suffix: "/v1"})
	for _, name := range slices.Sorted(maps.Keys(settings.Providers)) {
		all = append(all, baseURL{subject: "model_providers." + name + ".base_url of " + file, text: settings.Providers[name].BaseURL, suffix: "/v1"})
	}
	return all
}

// openCodeURLs returns the base URLs in an opencode.json without comments.
func openCodeURLs(file string) (all []baseURL) {
	var settings struct {
		Provider map[string]struct {
			NPM     string `json:"npm"`
			Options struct {
				BaseURL string `json:"baseURL"`
			} `json:"options"`
		} `json:"provider"`
	}
	if data, err := os.ReadFile(file); err != nil || json.Unmarshal(data, &settings) != nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(settings.Provider)) {
		p := settings.Provider[name]
		isMessages := p.NPM == "@ai-sdk/anthropic" || p.NPM == "" && name == "anthropic"
		all = append(all, baseURL{subject: "provider." + name + ".options.baseURL of " + file, text: p.Options.BaseURL, suffix: "/v1", isMessages: isMessages})
	}
	return all
}

func quotedPath(path string) string {
	if path == "" || path == "/" {
		return "none"
	}
	return path
}
