package admin

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// volatile are members that change on their own: ages and counters. Changes of these alone do not
// change the tag.
var volatile = map[string]bool{
	"uptime_s": true, "reset_s": true, "in_flight": true, "sessions": true, "queued": true, "restarts": true, "originals": true, "bytes": true,
}

// tagOf returns the entity tag of a response. It is weak (RFC 9110, 8.8.1): volatile members may
// differ.
func tagOf(body []byte) string {
	sum := sha256.New()
	dec := jsontext.NewDecoder(bytes.NewReader(body))
	for {
		tok, err := dec.ReadToken()
		if err != nil {
			break // the end: the body is our own, and well formed
		}
		if kind, n := dec.StackIndex(dec.StackDepth()); kind == '{' && n%2 == 1 && tok.Kind() == '"' && volatile[tok.String()] {
			_ = dec.SkipValue()
			continue
		}
		_, _ = sum.Write([]byte(tok.String() + "\x00"))
	}
	return `W/"` + base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:12]) + `"`
}

// hasTag reports whether a tag is listed in If-Match or If-None-Match; * matches every tag.
func hasTag(headers []string, tag string) bool {
	for _, h := range headers {
		for one := range strings.SplitSeq(h, ",") {
			one = strings.TrimSpace(one)
			if one == "*" || strings.TrimPrefix(one, "W/") == strings.TrimPrefix(tag, "W/") {
				return true
			}
		}
	}
	return false
}
