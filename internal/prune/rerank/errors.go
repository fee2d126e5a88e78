package rerank

import (
	"fmt"
	"net/http"
)

// Kind is what went wrong, as far as the pruner's answer tells.
type Kind string

// The kinds of failure.
const (
	KindHTTP   Kind = "http"   // no answer in time, or one that refuses
	KindParse  Kind = "parse"  // an answer that is not the scores asked for
	KindConfig Kind = "config" // the backend was not asked: key or address are missing, or too much was asked
)

// Error is why there are no scores.
type Error struct {
	Backend Backend
	Kind    Kind
	Status  int // the answer's HTTP status; 0: there was no answer
	cause   error
}

// Error says what happened, without any text, key or address that was sent.
func (e *Error) Error() string {
	text := fmt.Sprintf("%s: %s error", e.Backend, e.Kind)
	if e.Status != 0 && e.Kind == KindHTTP {
		text += fmt.Sprintf(": status %d %s", e.Status, http.StatusText(e.Status))
	}
	return text + ": " + e.cause.Error()
}

// Unwrap gives the cause, so that a caller can see its own context in it.
func (e *Error) Unwrap() error { return e.cause }

// Warning is the word for this in a pruner's answer: deepinfra_http_error, rerank_parse_error and so on.
func (e *Error) Warning() string { return string(e.Backend) + "_" + string(e.Kind) + "_error" }
