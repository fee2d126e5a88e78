package catalog

import (
	"encoding/base64"
	"net/url"
	"strings"

	"secateur/internal/rawjson"
)

// How URIs begin on our side.
const (
	resourcePrefix = "proxy://resource/" // then base64 of {"server":…,"uri":…}
	templatePrefix = "proxy://t/"        // then the server's id, a slash and the template or what it expanded to
	uiPrefix       = "ui://"             // then, with us, the server's id and a slash
)

// EncodeURI returns what a client calls a server's resource.
func EncodeURI(server, uri string) string {
	if rest, ok := strings.CutPrefix(uri, uiPrefix); ok {
		return uiPrefix + server + "/" + rest
	}
	o := rawjson.Object{'{'}
	o.Text("server", server)
	o.Text("uri", uri)
	return resourcePrefix + base64.StdEncoding.EncodeToString(append(o, '}'))
}

// EncodeTemplate returns what a client calls a server's resource template. The
// variables stay where a client looks for them.
func EncodeTemplate(server, template string) string {
	if rest, ok := strings.CutPrefix(template, uiPrefix); ok {
		return uiPrefix + server + "/" + rest
	}
	return templatePrefix + server + "/" + template
}

// DecodeURI is the way back from EncodeURI and EncodeTemplate, a template's
// variables expanded or not. It only looks at the URI: whether there is such a
// server, and whether a ui:// URI was made by us at all, it cannot know.
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

// decodePayload takes base64 in any alphabet, padded or not, also with the
// percent escapes that some clients put into the URIs they pass on.
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

// decodeBase64 takes the standard and the URL alphabet, padded or not.
func decodeBase64(s string) ([]byte, error) {
	return base64.RawStdEncoding.DecodeString(toStandard.Replace(strings.TrimRight(s, "=")))
}

var toStandard = strings.NewReplacer("-", "+", "_", "/")
