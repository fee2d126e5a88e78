package wire

import (
	"errors"
	"fmt"
	"math"

	"secateur/internal/rawjson"
)

// Maximum nesting depth of objects and arrays, including the message itself.
const (
	MaxRequestDepth = 128
	MaxResultDepth  = 10000
)

// ParseRequest parses a client's message: one request or notification. The document must be
// well-formed UTF-8 JSON without a byte order mark, nested at most maxDepth levels deep. No object
// may have duplicate names. The envelope must follow JSON-RPC 2.0. On an error the Message holds
// only the request's id, if the document is JSON and has one.
//
// The Message keeps b; the caller must not modify it afterwards.
func ParseRequest(b []byte, maxDepth int) (Message, *Error) {
	return parseStrict(b, maxDepth, false)
}

// parseStrict parses a message and enforces all rules. It accepts only requests and notifications,
// or also responses if answers is true.
func parseStrict(b []byte, maxDepth int, answers bool) (Message, *Error) {
	var e envelope
	e.Raw = rawjson.Trim(b)
	if len(e.Raw) == 0 || e.Raw[0] != '{' {
		return Message{}, notAnObject(e.Raw)
	}
	s := rawjson.NewScanner(e.Raw, maxDepth)
	s.Unique = true
	if err := e.read(&s, math.MaxInt); err != nil {
		return refusal(e.Raw, maxDepth, err)
	}
	problem := ""
	if answers {
		problem = e.judgeClient()
	} else {
		problem = e.judgeRequest()
	}
	if problem != "" {
		return Message{ID: IDOf(e.id)}, NewError(CodeInvalidRequest, problem)
	}
	e.ID = IDOf(e.id)
	e.Method = stringText(e.method)
	return e.Message, nil
}

// notAnObject returns the error for a document that is not an object: a batch, another JSON value,
// or invalid JSON.
func notAnObject(raw []byte) *Error {
	if err := rawjson.Check(raw, MaxResultDepth); err != nil {
		return parseError(err)
	}
	if raw[0] == '[' {
		return NewError(CodeInvalidRequest, "batches are not supported: send one message at a time")
	}
	return NewError(CodeInvalidRequest, "a message must be a JSON object")
}

// refusal returns the error for a document that could not be parsed. JSON that is nested too deeply
// or has duplicate names is an invalid request, and its id may be known. Anything else is a parse
// error without an id.
func refusal(raw []byte, maxDepth int, err error) (Message, *Error) {
	syntax, _ := errors.AsType[*rawjson.SyntaxError](err)
	if syntax == nil || syntax.Fault.IllFormed() {
		return Message{}, parseError(err)
	}
	if err := rawjson.Check(raw, MaxResultDepth); err != nil {
		return Message{}, parseError(err)
	}
	problem := "invalid request: " + err.Error()
	if syntax.Fault == rawjson.TooDeep {
		problem = fmt.Sprintf("invalid request: nested deeper than %d levels", maxDepth)
	}
	return Message{ID: skim(raw).ID()}, NewError(CodeInvalidRequest, problem)
}

func parseError(err error) *Error {
	return NewError(CodeParse, "parse error: "+err.Error())
}

// judgeRequest returns the problem with the envelope, "" if it is valid.
func (e *envelope) judgeRequest() string {
	switch {
	case e.folded != "":
		return unknownMember(e.folded)
	case !isVersion2(e.version):
		return wrongVersion
	case e.id != nil && IDOf(e.id).IsZero():
		return "id must be a string or a number"
	case e.Result != nil || e.Error != nil:
		return "a response is not accepted here: send a request or a notification"
	case e.method == nil:
		return "method is missing"
	case stringText(e.method) == "":
		return "method must be a string that is not empty"
	case e.Params != nil && !isStructured(e.Params):
		return "params must be an object or an array"
	case e.foldedName && namesTarget(stringText(e.method)):
		return "params has a member that is \"name\" but for upper and lower case"
	}
	return ""
}

const wrongVersion = `jsonrpc must be "2.0"`

func unknownMember(name string) string {
	return fmt.Sprintf("unknown member %q: names are case-sensitive", name)
}

// namesTarget reports whether params.name selects the target of the request.
func namesTarget(method string) bool { return method == "tools/call" || method == "prompts/get" }
