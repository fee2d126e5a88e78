package templates

import (
	"errors"
	"fmt"
	"mime"
	"regexp"
	"unicode/utf8"
)

// Template is a resource template that the proxy hosts.
type Template struct {
	Name        string `json:"name"`
	URITemplate string `json:"uri_template"`
	MIMEType    string `json:"mime_type"` // "": text/plain
	Text        string `json:"text"`      // {var} is replaced by a variable of the URI
}

// Limits, so that a caller that may create templates cannot exhaust the memory.
const (
	MaxTemplates = 256
	MaxText      = 256 << 10 // bytes of one text
	maxFilled    = 1 << 20   // bytes of a text with its variables filled in
)

var isName = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$`) // also used as a file name

// DefaultMIMEType is used if a template names none.
const DefaultMIMEType = "text/plain"

// entry is a validated template.
type entry struct {
	Template
	pattern *pattern
}

// judge validates a template, and reports everything that is wrong with it.
func judge(t Template) (*entry, error) {
	e := &entry{Template: t}
	var errs []error
	if !isName.MatchString(t.Name) {
		errs = append(errs, errors.New("name: must be 1 to 64 letters, digits, . _ and -, and not begin with a dot"))
	}
	var err error
	if e.pattern, err = readPattern(t.URITemplate); err != nil {
		errs = append(errs, fmt.Errorf("uri_template: %w", err))
	}
	if e.MIMEType == "" {
		e.MIMEType = DefaultMIMEType
	} else if _, _, err := mime.ParseMediaType(e.MIMEType); err != nil || len(e.MIMEType) > 200 {
		errs = append(errs, errors.New("mime_type: is none, as text/markdown is one"))
	}
	if len(t.Text) > MaxText || !utf8.ValidString(t.Text) {
		errs = append(errs, fmt.Errorf("text: must be UTF-8 of at most %d bytes", MaxText))
	}
	return e, errors.Join(errs...)
}
