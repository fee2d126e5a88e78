package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"secateur/internal/secret"
)

// Server is an authorization server's metadata (RFC 8414).
type Server struct {
	Issuer                string   `json:"issuer"`
	AuthorizationEndpoint string   `json:"authorization_endpoint"`
	TokenEndpoint         string   `json:"token_endpoint"`
	RegistrationEndpoint  string   `json:"registration_endpoint"`
	ChallengeMethods      []string `json:"code_challenge_methods_supported"`
	AuthMethods           []string `json:"token_endpoint_auth_methods_supported"`
	ClientDocuments       bool     `json:"client_id_metadata_document_supported"`
	AnswersIssuer         bool     `json:"authorization_response_iss_parameter_supported"`
}

// Resource is a protected resource's metadata (RFC 9728).
type Resource struct {
	Resource string   `json:"resource"`
	Servers  []string `json:"authorization_servers"`
	Scopes   []string `json:"scopes_supported"`
}

// ErrOtherResource means that a server's metadata describes another resource. A token for that one
// must not be sent here.
var ErrOtherResource = errors.New("its metadata is for another resource")

const maxMetadata = 1 << 20

// Discover finds the authorization server of a resource. challenge is the resource's
// WWW-Authenticate header; "": not asked.
func Discover(ctx context.Context, client *http.Client, resource, challenge string) (Resource, Server, error) {
	at, err := url.Parse(resource)
	if err != nil {
		return Resource{}, Server{}, err
	}
	var res Resource
	found := false
	for _, address := range resourceAddresses(at, challenge) {
		if getJSON(ctx, client, address, &res) == nil && res.Resource != "" {
			found = true
			break
		}
	}
	if !found { // servers of 2025-03-26 are their own authorization servers
		res = Resource{Resource: resource, Servers: []string{at.Scheme + "://" + at.Host}}
	}
	if !sameResource(res.Resource, resource) {
		return res, Server{}, fmt.Errorf("%w: %s", ErrOtherResource, res.Resource)
	}
	if len(res.Servers) == 0 {
		return res, Server{}, errors.New("its metadata names no authorization server")
	}
	s, err := DiscoverServer(ctx, client, res.Servers[0])
	return res, s, err
}

// DiscoverServer reads the metadata of an issuer.
func DiscoverServer(ctx context.Context, client *http.Client, issuer string) (Server, error) {
	at, err := url.Parse(issuer)
	if err != nil || at.Scheme != "https" && at.Scheme != "http" || at.Host == "" {
		return Server{}, fmt.Errorf("the authorization server %q has no address", issuer)
	}
	origin, path := at.Scheme+"://"+at.Host, strings.TrimSuffix(at.Path, "/")
	var last error
	for _, address := range []string{
		origin + "/.well-known/oauth-authorization-server" + path, origin + "/.well-known/openid-configuration" + path, origin + path + "/.well-known/openid-configuration",
	} {
		var s Server
		if last = getJSON(ctx, client, address, &s); last != nil {
			continue
		}
		switch {
		case strings.TrimSuffix(s.Issuer, "/") != strings.TrimSuffix(issuer, "/"):
			return Server{}, fmt.Errorf("the metadata of %s is another issuer's: %s", issuer, s.Issuer)
		case s.TokenEndpoint == "":
			return Server{}, fmt.Errorf("the metadata of %s names no token endpoint", issuer)
		}
		return s, nil
	}
	return Server{}, fmt.Errorf("the metadata of %s cannot be had: %w", issuer, last)
}

var metadataParameter = regexp.MustCompile(`resource_metadata="([^"]+)"`)

var (
	scopeParameter = regexp.MustCompile(`(?:^|[\s,])scope="([^"]*)"`)
	// scopes as servers name them; other characters could mean something to a shell
	plainScope = regexp.MustCompile(`^[A-Za-z0-9:._/ -]{1,200}$`)
)

// ChallengeScope returns the scope that a WWW-Authenticate header asks for, or "". It drops scopes
// that cannot be shown as they are.
func ChallengeScope(challenge string) string {
	m := scopeParameter.FindStringSubmatch(challenge)
	if m == nil || !plainScope.MatchString(m[1]) {
		return ""
	}
	return strings.Join(strings.Fields(m[1]), " ")
}

// LacksScope reports whether a WWW-Authenticate header says that the token's scope does not suffice
// (RFC 6750).
func LacksScope(challenge string) bool {
	return strings.Contains(challenge, `error="insufficient_scope"`) || strings.Contains(challenge, "error=insufficient_scope")
}

// withScopes returns all scopes of several lists, each once.
func withScopes(lists ...string) string {
	var all []string
	for scope := range strings.FieldsSeq(strings.Join(lists, " ")) {
		if !slices.Contains(all, scope) {
			all = append(all, scope)
		}
	}
	return strings.Join(all, " ")
}

// resourceAddresses returns the possible addresses of a resource's metadata.
func resourceAddresses(at *url.URL, challenge string) (list []string) {
	if m := metadataParameter.FindStringSubmatch(challenge); m != nil {
		list = append(list, m[1])
	}
	const wellKnown = "/.well-known/oauth-protected-resource"
	origin := at.Scheme + "://" + at.Host
	if path := strings.TrimSuffix(at.EscapedPath(), "/"); path != "" {
		list = append(list, origin+wellKnown+path)
	}
	return append(list, origin+wellKnown)
}

// sameResource compares resource identifiers. A parent path, or the whole origin, also covers the
// resource.
func sameResource(named, resource string) bool {
	a, errA := url.Parse(named)
	b, errB := url.Parse(resource)
	if errA != nil || errB != nil || !strings.EqualFold(a.Scheme, b.Scheme) || !strings.EqualFold(a.Host, b.Host) {
		return false
	}
	at, below := strings.TrimSuffix(a.Path, "/"), strings.TrimSuffix(b.Path, "/")
	return at == below || strings.HasPrefix(below, at+"/")
}

// challengesS256 reports whether PKCE can be used. If the server does not say, assume yes: OAuth
// 2.1 requires it.
func (s Server) challengesS256() bool {
	return len(s.ChallengeMethods) == 0 || slices.Contains(s.ChallengeMethods, "S256")
}

func getJSON(ctx context.Context, client *http.Client, address string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	res, err := client.Do(req)
	if err != nil {
		return secret.WithoutURL(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxMetadata))
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("HTTP %d", res.StatusCode)
	}
	return json.Unmarshal(body, into)
}
