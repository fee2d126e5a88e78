package proxy

import (
	"net/url"
	"slices"
	"strings"

	"secateur/internal/llm/chat"
)

var formatNames = []string{chat.Completions.String(), chat.Messages.String(), chat.Responses.String()}

func parseFormat(name string) (chat.Format, bool) {
	i := slices.Index(formatNames, name)
	return chat.Format(max(i, 0)), i >= 0 //nolint:gosec // one of three
}

// format returns the configured format, or else the one implied by the name and the address.
func (p Provider) format(name string, base *url.URL) chat.Format {
	if f, ok := parseFormat(p.Format); ok {
		return f
	}
	host, path := base.Hostname(), strings.TrimSuffix(base.Path, "/")
	switch {
	case name == "anthropic", isHost(host, "anthropic.com"), strings.HasSuffix(strings.TrimSuffix(path, "/v1"), "/anthropic"):
		return chat.Messages
	case name == "openai", name == chatGPT, isHost(host, "openai.com"), isHost(host, "chatgpt.com"):
		return chat.Responses
	}
	return chat.Completions
}

// SpeaksMessages reports whether a provider of this name uses Anthropic's format; otherwise it uses
// OpenAI's.
func (p Provider) SpeaksMessages(name string) bool {
	base, err := p.parseBase()
	return err == nil && p.format(name, base) == chat.Messages
}

func isHost(host, domain string) bool {
	return host == domain || strings.HasSuffix(host, "."+domain)
}

// chatGPT is the provider for clients that are signed in with ChatGPT.
const chatGPT = "chatgpt"

func (p *provider) isChatGPT() bool {
	return p.name == chatGPT || isHost(p.base.Hostname(), "chatgpt.com")
}

// speaks reports whether a provider accepts requests in a format. Providers of OpenAI's newer
// format also accept the older one.
func (p *provider) speaks(f chat.Format) bool {
	return p.format == f || p.format == chat.Responses && f == chat.Completions && !p.isChatGPT()
}
