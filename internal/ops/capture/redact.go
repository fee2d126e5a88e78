package capture

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"secateur/internal/access"
	"secateur/internal/rawjson"
)

// Secrets are masked in addition to the built-in ones.
type Secrets struct {
	Fields   []string // names of members to mask
	Patterns []string // RE2
	Values   []string // such as configured keys, wherever they occur
}

// usualFields and usualPatterns are always masked.
var (
	usualFields = []string{
		"authToken", "auth_token", "token", "access_token", "accessToken", "refresh_token", "refreshToken", "id_token", "api_key", "apiKey", "apikey", "password", "passwd",
		"secret", "client_secret", "clientSecret", "private_key", "privateKey", "authorization", "Authorization", "cookie", "Cookie", "encrypted_content",
	}
	usualPatterns = []string{
		`sct_[A-Za-z0-9_-]{16,}`, `\bsk-[A-Za-z0-9_-]{12,}`, `\bgh[oprsu]_[A-Za-z0-9]{16,}`, `\bgithub_pat_[A-Za-z0-9_]{16,}`, `\bxox[abeprs]-[A-Za-z0-9-]{8,}`,
		`\bA(?:KIA|SIA)[0-9A-Z]{16}`, `\bAIza[A-Za-z0-9_-]{30,}`, `(?i)\bbearer\s+[A-Za-z0-9._~+/-]{8,}=*`, `\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*`,
		`-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?`, `://[^/\s:@"]+:[^/\s@"]+@`,
	}
)

// shortestValue is the minimum length of a configured value to mask: shorter ones occur in many
// texts.
const shortestValue = 8

// redactor masks secrets.
type redactor struct {
	list     []*access.Redaction
	patterns []*regexp.Regexp
	member   *regexp.Regexp // a member to mask in a truncated document
}

func newRedactor(s Secrets) (*redactor, error) {
	fields, patterns := slices.Concat(usualFields, s.Fields), slices.Concat(usualPatterns, s.Patterns)
	for _, v := range s.Values {
		if len(v) >= shortestValue {
			patterns = append(patterns, regexp.QuoteMeta(v))
		}
	}
	rules, err := access.NewRules([]access.Rule{{Action: access.ActionRedact, Fields: fields, Patterns: patterns}}, false)
	if err != nil {
		return nil, fmt.Errorf("capture: %w", err)
	}
	r := &redactor{list: rules.About(access.TokenHolder(), access.DoorAdmin, "")}
	for _, p := range patterns {
		re, err := regexp.Compile(p)
		if err != nil {
			return nil, fmt.Errorf("capture: %w", err)
		}
		r.patterns = append(r.patterns, re)
	}
	quoted := make([]string, len(fields))
	for i, f := range fields {
		quoted[i] = regexp.QuoteMeta(f)
	}
	r.member = regexp.MustCompile(`"(?:` + strings.Join(quoted, "|") + `)\\?"\s*:\s*(?:\\?"(?:[^"\\]|\\.)*"?|[^"\s,}\]]+|$)`)
	return r, nil
}

// clean masks secrets in a body. A body that is not a whole document is handled line by line, as in
// a stream of events.
func (r *redactor) clean(body []byte, whole bool) string {
	if whole && isJSON(body) {
		return r.document(body)
	}
	var out strings.Builder
	for line := range bytes.Lines([]byte(r.patterned(string(body)))) { // multi-line patterns first
		text := bytes.TrimRight(line, "\r\n")
		head := []byte(nil)
		if data, ok := bytes.CutPrefix(text, []byte("data:")); ok {
			head, text = text[:len(text)-len(data)], data
		}
		out.Write(head)
		if isJSON(text) {
			out.WriteString(r.document(text))
		} else {
			out.WriteString(r.text(string(text)))
		}
		out.Write(line[len(head)+len(text):])
	}
	return strings.ToValidUTF8(out.String(), "\uFFFD")
}

func (r *redactor) document(doc []byte) string {
	return string(access.Redact(doc, r.list, access.InResults))
}

// text masks secrets in a text that is not a document, usually a truncated one. A masked member
// with an object or a list drops everything after it.
func (r *redactor) text(text string) string {
	var out strings.Builder
	for {
		at := r.member.FindStringIndex(text)
		if at == nil {
			out.WriteString(text)
			return r.patterned(out.String())
		}
		colon := at[0] + strings.IndexByte(text[at[0]:at[1]], ':')
		out.WriteString(text[:colon+1] + `"` + access.Redacted + `"`)
		if value := strings.TrimSpace(text[colon+1 : at[1]]); value == "" || value[0] == '{' || value[0] == '[' {
			return r.patterned(out.String())
		}
		text = text[at[1]:]
	}
}

func (r *redactor) patterned(text string) string {
	for _, re := range r.patterns {
		text = re.ReplaceAllLiteralString(text, access.Redacted)
	}
	return text
}

func isJSON(doc []byte) bool {
	const maxDepth = 512
	return len(doc) > 0 && rawjson.Check(doc, maxDepth) == nil
}
