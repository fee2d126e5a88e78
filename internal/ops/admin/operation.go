package admin

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"secateur/internal/access"
)

// Base is where the control plane hangs.
const Base = "/api/v1"

// Operation is one request that the control plane answers.
type Operation struct {
	ID      string // operationId
	Method  string
	Path    string // below Base
	Summary string
	AnyRole bool // for every caller who is let in, not for those of the role admin alone

	query  []parameter
	body   any // a value of the body's type; nil: there is none
	answer any // a value of the answer's type; nil: there is none
	isList bool
	status int // of the answer; 0: 200
	stream bool
	file   string                                                                  // the media type of an answer that is no JSON; "": it is
	serve  func(w http.ResponseWriter, r *http.Request, p *access.Principal) error // for what is no JSON answer
	do     func(r *http.Request, p *access.Principal) (any, error)
}

// parameter is one of the query.
type parameter struct {
	name, about string
	is          string // string, integer, boolean
	among       []string
}

var (
	limitParameter  = parameter{name: "limit", about: "items on a page, 1000 at most; 100 where it is left out", is: "integer"}
	cursorParameter = parameter{name: "cursor", about: "next of the page before", is: "string"}
)

// Pattern is the operation's in a ServeMux.
func (o Operation) Pattern() string { return o.Method + " " + Base + o.Path }

// Serve answers a caller who may have the answer.
func (o Operation) Serve(w http.ResponseWriter, r *http.Request, p *access.Principal) {
	if err := o.try(w, r, p); err != nil {
		asProblem(err).Write(w)
	}
}

func (o Operation) try(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
	if err := o.checkQuery(r); err != nil {
		return err
	}
	if o.serve != nil {
		return o.serve(w, r, p)
	}
	answer, err := o.do(r, p)
	if err != nil {
		return err
	}
	return o.write(w, r, answer)
}

// write sends an answer: with its tag, and not at all to a caller who has it.
func (o Operation) write(w http.ResponseWriter, r *http.Request, answer any) error {
	status := o.status
	if status == 0 {
		status = http.StatusOK
	}
	w.Header().Set("Cache-Control", "no-store")
	if at, ok := answer.(located); ok {
		w.Header().Set("Location", at.location)
		answer = at.answer
	}
	if answer == nil {
		w.WriteHeader(status)
		return nil
	}
	body, err := json.Marshal(answer, json.Deterministic(true))
	if err != nil {
		return err
	}
	if o.Method == http.MethodGet {
		tag := tagOf(body)
		w.Header().Set("ETag", tag)
		if hasTag(r.Header.Values("If-None-Match"), tag) {
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // a client that went away has no use for an error
	return nil
}

// located is an answer about something that was made.
type located struct {
	location string
	answer   any
}

// checkQuery refuses what the operation does not know: a filter that is spelled wrong must not be one that is not there.
func (o Operation) checkQuery(r *http.Request) error {
	for name := range r.URL.Query() {
		if o.parameter(name) == nil {
			return NewProblem(http.StatusBadRequest, CodeInvalidRequest, "unknown query parameter "+quoted(name), "known are: "+o.parameterNames())
		}
	}
	return nil
}

func (o Operation) parameters() []parameter {
	if o.isList {
		return append(slices.Clip(o.query), limitParameter, cursorParameter)
	}
	return o.query
}

func (o Operation) parameter(name string) *parameter {
	for _, p := range o.parameters() {
		if p.name == name {
			return &p
		}
	}
	return nil
}

func (o Operation) parameterNames() string {
	all := o.parameters()
	if len(all) == 0 {
		return "none"
	}
	names := make([]string, len(all))
	for i, p := range all {
		names[i] = p.name
	}
	return strings.Join(names, ", ")
}

// maxBody bounds what a request may carry.
const maxBody = 4 << 20

// readBody decodes a request's body strictly.
func readBody[T any](r *http.Request) (T, error) {
	var value T
	data, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
	if err != nil {
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			return value, NewProblem(http.StatusRequestEntityTooLarge, CodeInvalidRequest, "the body is larger than 4 MiB", "")
		}
		return value, NewProblem(http.StatusBadRequest, CodeInvalidRequest, "the body could not be read", "")
	}
	if err := json.Unmarshal(data, &value, json.RejectUnknownMembers(true)); err != nil {
		return value, NewProblem(http.StatusBadRequest, CodeInvalidRequest, "the body is not what is asked for: "+plainError(err), "see GET "+Base+"/openapi.json")
	}
	return value, nil
}

// plainError says what is wrong with a body, without the name of the decoder.
func plainError(err error) string {
	if bad, ok := errors.AsType[*json.SemanticError](err); ok {
		where := string(bad.JSONPointer)
		if where == "" {
			where = "/"
		}
		if errors.Is(bad.Err, json.ErrUnknownName) {
			return where + " is not known"
		}
		return where + " has the wrong type"
	}
	return "it is not JSON"
}

// asProblem is what a caller is told of an error.
func asProblem(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	return NewProblem(http.StatusInternalServerError, CodeInternal, err.Error(), "")
}

// quoted is a word of the caller's for a message.
func quoted(s string) string {
	const most = 80
	if len(s) > most {
		s = s[:most] + "…"
	}
	text, _ := json.Marshal(strings.ToValidUTF8(s, "\uFFFD"))
	return string(text)
}
