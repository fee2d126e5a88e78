package auth

import (
	"encoding/json"
	"net/http"
	"strings"
)

// MetadataPath is the path of the metadata of a protected resource (RFC 9728).
const MetadataPath = "/.well-known/oauth-protected-resource"

// metadataSuffix returns the resource that a request's path belongs to.
func metadataSuffix(path string) string {
	if rest, ok := strings.CutPrefix(path, "/mcp"); ok && (rest == "" || rest[0] == '/' && !strings.Contains(rest[1:], "/")) {
		return strings.TrimSuffix(path, "/")
	}
	return ""
}

// ServeMetadata answers GET /.well-known/oauth-protected-resource{path}. It names the issuer whose
// tokens the resource accepts.
func (a *Authenticator) ServeMetadata(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, MetadataPath), "/")
	if a.jwt == nil || path != metadataSuffix(path) {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(struct { // the client may be gone
		Resource string   `json:"resource"`
		Issuers  []string `json:"authorization_servers"`
		Methods  []string `json:"bearer_methods_supported"`
	}{a.publicURL + path, []string{a.opt.Settings.JWT.Issuer}, []string{"header"}})
}
