package wire

import (
	"fmt"

	"secateur/internal/rawjson"
)

// ParseClient is like ParseRequest, but also accepts a response, which a client sends to our
// requests.
func ParseClient(b []byte, maxDepth int) (Message, *Error) {
	return parseStrict(b, maxDepth, true)
}

func (e *envelope) judgeClient() string {
	if e.method != nil {
		return e.judgeRequest()
	}
	e.dropNulls()
	switch {
	case e.folded != "":
		return unknownMember(e.folded)
	case !isVersion2(e.version):
		return wrongVersion
	}
	if err := e.judgeResponse(); err != nil {
		return "invalid response: " + err.Error()
	}
	return ""
}

// ParseBatch splits an array of messages into its raw elements. Clients of revision 2025-03-26 may
// send such batches. The array must hold between 1 and most elements. ParseBatch does not validate
// the elements as messages. It only checks that the document is JSON, with elements nested at most
// maxDepth levels deep.
func ParseBatch(b []byte, maxDepth, most int) ([][]byte, *Error) {
	raw := rawjson.Trim(b)
	if err := rawjson.Check(raw, maxDepth+1); err != nil {
		_, refused := refusal(raw, maxDepth, err)
		return nil, refused
	}
	if raw[0] != '[' {
		return nil, NewError(CodeInvalidRequest, "a batch must be a JSON array")
	}
	var all [][]byte
	for element := range rawjson.Items(raw) {
		if len(all) == most {
			return nil, NewError(CodeInvalidRequest, fmt.Sprintf("a batch may have no more than %d messages", most))
		}
		all = append(all, element)
	}
	if len(all) == 0 {
		return nil, NewError(CodeInvalidRequest, "a batch must not be empty")
	}
	return all, nil
}
