package wire

import (
	"errors"
	"math"

	"secateur/internal/rawjson"
)

// ParseServer parses a server's message: a response, request or notification. It records the
// strings of more than longString characters in result and error.data; none if longString is not
// positive. Inside result it only checks that the JSON is well-formed and at most MaxResultDepth
// levels deep.
//
// On an error the Message holds only the ID of the request that the document seems to answer, if
// any. The caller can use it to fail that call.
//
// The Message keeps b; the caller must not modify it afterwards.
func ParseServer(b []byte, longString int) (Message, error) {
	noted := max(longString, 0)
	if noted == 0 {
		longString = math.MaxInt
	}
	var e envelope
	e.Raw = rawjson.Trim(b)
	s := rawjson.NewScanner(e.Raw, MaxResultDepth)
	err := e.read(&s, longString)
	if err == nil {
		e.dropNulls()
		err = e.judgeServer()
	}
	if err != nil {
		if seen := skim(e.Raw); !seen.isCall {
			return Message{ID: seen.ID()}, err
		}
		return Message{}, err
	}
	e.ID = IDOf(e.id)
	e.Method = stringText(e.method)
	e.Long, e.Noted = s.Long(), noted
	e.NoRefs = true
	for _, name := range refNames {
		e.NoRefs = e.NoRefs && !s.MayHave(name)
	}
	return e.Message, nil
}

// refNames are the member names under which results refer to resources and tasks.
var refNames = []string{"uri", "uriTemplate", "taskId", "resourceUri", "ui/resourceUri", "openai/outputTemplate"}

// dropNulls treats a null result, error or params as absent. Many servers write all members of a
// response and set the unused one to null. Raw is not changed.
func (e *envelope) dropNulls() {
	isNull := func(at int) bool { return string(e.at[at].Of(e.Raw)) == "null" }
	switch {
	case e.Result != nil && isNull(atError):
		e.at[atError] = rawjson.Span{}
	case e.Error != nil && isNull(atResult):
		e.at[atResult] = rawjson.Span{}
	}
	if isNull(atParams) {
		e.at[atNullParams], e.at[atParams] = e.at[atParams], rawjson.Span{}
	}
	e.slice()
}

func (e *envelope) judgeServer() error {
	if !isVersion2(e.version) {
		return errors.New(`jsonrpc is not "2.0"`)
	}
	if e.method == nil {
		return e.judgeResponse()
	}
	switch {
	case stringText(e.method) == "":
		return errors.New("method is not a string, or empty")
	case e.Result != nil || e.Error != nil:
		return errors.New("method together with a result or an error")
	case e.id != nil && IDOf(e.id).IsZero():
		return errors.New("id of a request is neither a string nor a number")
	case e.Params != nil && !isStructured(e.Params):
		return errors.New("params is neither an object nor an array")
	}
	return nil
}

// judgeResponse validates a message without a method.
func (e *envelope) judgeResponse() error {
	hasID := !IDOf(e.id).IsZero()
	switch {
	case e.Result != nil && e.Error != nil:
		return errors.New("result together with an error")
	case e.Result == nil && e.Error == nil:
		return errors.New("neither method, result nor error")
	case e.Result != nil && !hasID:
		return errors.New("result without an id that is a string or a number")
	case e.Error == nil:
		return nil
	case e.id != nil && !hasID && string(e.id) != "null":
		return errors.New("id is neither a string, a number nor null")
	case e.Error[0] != '{':
		return errors.New("error is not an object")
	case !isInteger(e.errCode):
		return errors.New("error.code is not an integer")
	case len(e.errMessage) == 0 || e.errMessage[0] != '"':
		return errors.New("error.message is not a string")
	}
	return nil
}
