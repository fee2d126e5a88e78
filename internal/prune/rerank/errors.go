package rerank

import (
	"fmt"
	"net/http"
)

// Kind is the kind of failure that the pruner's response reports.
type Kind string

// The kinds of failure.
const (
	KindHTTP   Kind = "http"   // no response in time, or a refusal
	KindParse  Kind = "parse"  // a response without the expected scores
	KindConfig Kind = "config" // not asked: key or address missing, or too many documents
)

// Error says why scoring failed.
type Error struct {
	Backend Backend
	Kind    Kind
	Status  int // of the HTTP response; 0: no response
	cause   error
}

// Error describes the failure without any text, key or address that was sent.
func (e *Error) Error() string {
	text := fmt.Sprintf("%s: %s error", e.Backend, e.Kind)
	if e.Status != 0 && e.Kind == KindHTTP {
		text += fmt.Sprintf(": status %d %s", e.Status, http.StatusText(e.Status))
	}
	return text + ": " + e.cause.Error()
}

// Unwrap returns the cause, so that a caller can recognize its own context's error.
func (e *Error) Unwrap() error { return e.cause }

// Warning returns the word in a pruner's response: deepinfra_http_error, rerank_parse_error and so
// on.
func (e *Error) Warning() string { return string(e.Backend) + "_" + string(e.Kind) + "_error" }
