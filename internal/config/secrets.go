package config

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// literalSecret returns the warning for a secret in the file itself; "": none. It never repeats the
// value.
func literalSecret(pattern, path, value string) string {
	const advice = "; put it into the environment and write ${VAR}"
	switch pattern {
	case "auth_token":
		return "the token stands in the file" + advice
	case "providers.*.api_key":
		return "the key stands in the file" + advice
	case "auth.hmac[].secret":
		return "the secret stands in the file" + advice
	case "servers[].headers.*", "telemetry.otlp_headers.*":
		return "the header's value stands in the file" + advice
	case "servers[].env.*":
		if nameLooksSecret(path[strings.LastIndexByte(path, '.')+1:]) || valueLooksSecret(value) {
			return "this looks like a secret and stands in the file" + advice
		}
	case "servers[].url", "store.url", "mcp_pruner.rerank_url", "providers.*.base_url", "telemetry.otlp_endpoint":
		if hasPassword(value) {
			return "a password stands in the file" + advice
		}
	}
	return ""
}

// hideVariables removes the values of variables from the findings: a secret may have been used in a
// place that is not secret.
func (d *decoder) hideVariables() {
	for i := range d.found {
		f := &d.found[i]
		for value, name := range d.expanded {
			quoted := strconv.Quote(value)
			if len(value) >= 8 {
				f.text = strings.ReplaceAll(f.text, quoted[1:len(quoted)-1], "${"+name+"}")
			} else if value != "" {
				f.text = strings.ReplaceAll(f.text, quoted, `"${`+name+`}"`)
			}
		}
	}
}

var (
	secretWords = []string{
		"apikey", "auth", "authorization", "cookie", "credential", "credentials", "key", "pass", "passphrase", "passwd",
		"password", "pat", "pwd", "secret", "token",
	}
	// KEY_FILE is the place of a secret, not the secret.
	placeWords     = []string{"dir", "file", "path", "url", "uri", "endpoint"}
	secretPrefixes = []string{"sk-", "sk_", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "xox", "AKIA", "AIza", "hf_", "npm_", "eyJ", "Bearer "}
)

func nameLooksSecret(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '_' || r == '-' || r == '"' })
	if len(words) < 2 && name == "PWD" || len(words) > 0 && slices.Contains(placeWords, words[len(words)-1]) {
		return false
	}
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(secretWords, w) })
}

func valueLooksSecret(value string) bool {
	return hasPassword(value) ||
		len(value) >= 16 && slices.ContainsFunc(secretPrefixes, func(p string) bool { return strings.HasPrefix(value, p) })
}

func hasPassword(value string) bool {
	u, err := url.Parse(value)
	if err != nil || u.User == nil {
		return false
	}
	password, _ := u.User.Password()
	return password != ""
}

// refused returns why a likely key is not accepted, if that says more than "unknown".
func refused(pattern string) (reason string, ok bool) {
	switch pattern {
	case "mcp_pruner.deepinfra_api_key":
		return "a reranker's key is not read from a file; set the environment variable DEEPINFRA_API_KEY", true
	case "mcp_pruner.rerank_api_key":
		return "a reranker's key is not read from a file; set the environment variable SECATEUR_RERANK_API_KEY", true
	case "mcp_pruner.deepinfra_endpoint_url":
		return "set the environment variable DEEPINFRA_ENDPOINT_URL instead", true
	}
	return "", false
}
