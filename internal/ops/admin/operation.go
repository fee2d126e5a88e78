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

// Base is the base path of the control plane.
const Base = "/api/v1"

// Operation is one request that the control plane answers.
type Operation struct {
	ID      string // operationId
	Method  string
	Path    string // below Base
	Summary string
	AnyRole bool // for every authenticated caller, not only for the role admin

	query  []parameter
	body   any // a value of the body's type; nil: no body
	answer any // a value of the response type; nil: no response
	isList bool
	status int // of the response; 0: 200
	stream bool
	file   string // media type of a response that is not JSON; "": JSON
	// for responses that are not JSON
	serve func(w http.ResponseWriter, r *http.Request, p *access.Principal) error
	do    func(r *http.Request, p *access.Principal) (any, error)
}

// parameter is a query parameter.
type parameter struct {
	name, about string
	is          string // string, integer, boolean
	among       []string
}

var (
	limitParameter  = parameter{name: "limit", about: "items on a page, 1000 at most; 100 where it is left out", is: "integer"}
	cursorParameter = parameter{name: "cursor", about: "next of the page before", is: "string"}
)

// Pattern returns the operation's pattern for a ServeMux.
func (o Operation) Pattern() string { return o.Method + " " + Base + o.Path }

// Serve answers an authorized caller.
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

// write sends a response with its tag, or 304 if the caller already has it.
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
	_, _ = w.Write(append(body, '\n')) // the client may be gone
	return nil
}

// located is a response about a created object.
type located struct {
	location string
	answer   any
}

// checkQuery refuses unknown parameters, so that a misspelled filter is not ignored.
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

// maxBody limits the size of a request body.
const maxBody = 4 << 20

// readBody decodes a request body strictly.
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

// plainError describes a mistake in a body, without the name of the decoder.
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

// asProblem converts an error for the caller.
func asProblem(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	return NewProblem(http.StatusInternalServerError, CodeInternal, err.Error(), "")
}

// quoted shortens and quotes a caller's word for a message.
func quoted(s string) string {
	const most = 80
	if len(s) > most {
		s = s[:most] + "…"
	}
	text, _ := json.Marshal(strings.ToValidUTF8(s, "\uFFFD"))
	return string(text)
}
