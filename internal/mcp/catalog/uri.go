package catalog

import (
	"encoding/base64"
	"net/url"
	"strings"

	"secateur/internal/rawjson"
)

// Prefixes of our URIs.
const (
	resourcePrefix = "proxy://resource/" // followed by base64 of {"server":…,"uri":…}
	// followed by the server's id, a slash and the template or its expansion
	templatePrefix = "proxy://t/"
	uiPrefix       = "ui://" // in our form followed by the server's id and a slash
)

// EncodeURI returns the clients' URI for a server's resource.
func EncodeURI(server, uri string) string {
	if rest, ok := strings.CutPrefix(uri, uiPrefix); ok {
		return uiPrefix + server + "/" + rest
	}
	o := rawjson.Object{'{'}
	o.Text("server", server)
	o.Text("uri", uri)
	return resourcePrefix + base64.StdEncoding.EncodeToString(append(o, '}'))
}

// EncodeTemplate returns the clients' form of a server's resource template. The variables stay
// visible to clients.
func EncodeTemplate(server, template string) string {
	if rest, ok := strings.CutPrefix(template, uiPrefix); ok {
		return uiPrefix + server + "/" + rest
	}
	return templatePrefix + server + "/" + template
}

// DecodeURI reverses EncodeURI and EncodeTemplate, with the template's variables expanded or not.
// It only parses the URI. It does not check whether the server exists, or whether we built a ui://
// URI at all.
func DecodeURI(uri string) (server, original string, ok bool) {
	if payload, is := strings.CutPrefix(uri, resourcePrefix); is {
		return decodePayload(payload)
	}
	if rest, is := strings.CutPrefix(uri, templatePrefix); is {
		server, original, ok = strings.Cut(rest, "/")
		return server, original, ok && server != ""
	}
	if rest, is := strings.CutPrefix(uri, uiPrefix); is {
		server, original, ok = strings.Cut(rest, "/")
		return server, uiPrefix + original, ok && server != ""
	}
	return "", "", false
}

// decodePayload accepts base64 in either alphabet, padded or not. It also accepts the percent
// escapes that some clients add to URIs.
func decodePayload(payload string) (server, uri string, ok bool) {
	if strings.Contains(payload, "%") {
		plain, err := url.PathUnescape(payload)
		if err != nil {
			return "", "", false
		}
		payload = plain
	}
	b, err := decodeBase64(payload)
	if err != nil {
		return "", "", false
	}
	var hasServer, hasURI bool
	for name, value := range members(b) {
		switch name {
		case "server":
			server, hasServer = rawjson.Text(value)
		case "uri":
			uri, hasURI = rawjson.Text(value)
		}
	}
	return server, uri, hasServer && hasURI
}

// decodeBase64 accepts the standard and the URL alphabet, padded or not.
func decodeBase64(s string) ([]byte, error) {
	return base64.RawStdEncoding.DecodeString(toStandard.Replace(strings.TrimRight(s, "=")))
}

var toStandard = strings.NewReplacer("-", "+", "_", "/")
