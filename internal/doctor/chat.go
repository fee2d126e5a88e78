package doctor

import (
	"context"
	"net"
	"net/url"
	"strings"

	"secateur/internal/access"
)

// Door is the chat side of the configuration.
type Door struct {
	Listen           string // its address
	Messages, Others bool   // a provider speaks Anthropic's format, or one of OpenAI's
}

// CheckBaseURLs looks at the variables by which clients find a model provider, as far as they point at us. Settings are Claude
// Code's settings.json, which beats the shell. Claude Code and Anthropic's SDKs add /v1 themselves, OpenAI's do not.
func CheckBaseURLs(d Door, settings string, lookup func(string) (string, bool)) Check {
	return func(context.Context) (found []Finding) {
		_, port, _ := net.SplitHostPort(d.Listen)
		env := claudeEnv(settings)
		for _, v := range []struct {
			name, suffix, key, provider string
			served                      bool
		}{
			{"ANTHROPIC_BASE_URL", "", "ANTHROPIC_API_KEY", "[providers.anthropic]", d.Messages},
			{"OPENAI_BASE_URL", "/v1", "OPENAI_API_KEY", "[providers.openai]", d.Others},
		} {
			text, ok := env[v.name]
			if !ok {
				text, _ = lookup(v.name)
			}
			base, err := url.Parse(text)
			if err != nil || !access.IsLoopback(base.Hostname()) || base.Port() != port {
				continue
			}
			f := Finding{Check: Client, Subject: v.name, Level: OK, Cause: "points at " + base.Host}
			right := base.Scheme + "://" + base.Host + v.suffix
			key, _ := lookup(v.key)
			switch {
			case strings.TrimSuffix(base.Path, "/") != v.suffix:
				f.Level, f.Cause, f.Fix = Fail, "its path is "+quotedPath(base.Path)+", where clients expect "+quotedPath(v.suffix), "set "+v.name+"="+right
			case !v.served:
				f.Level, f.Cause, f.Fix = Fail, "points at "+base.Host+", and no provider here speaks its format", "add "+v.provider+" to the configuration"
			case key == "":
				f.Cause += "; " + v.key + " is not set, so the client signs in by itself, or the provider's api_key counts"
			}
			found = append(found, f)
		}
		return found
	}
}

func quotedPath(path string) string {
	if path == "" || path == "/" {
		return "none"
	}
	return path
}
