package wire

import (
	"strconv"

	"secateur/internal/rawjson"
)

// A Message is one JSON-RPC message. Its slices point into Raw.
type Message struct {
	Raw    []byte // the document without the white space around it
	ID     ID     // zero for a notification, and for an error response whose id is null
	Method string // "" for a response

	Params, Result, Error []byte // raw values, nil where absent

	Name string // params.name where it is a string: the tool or the prompt
	URI  string // params.uri where it is a string: the resource
	Task string // params.taskId where it is a string: the task

	// Long holds the string values longer than was asked for that stand inside
	// result or error.data, by offsets into Raw.
	Long []rawjson.String

	// Noted is what was asked for: Long has the strings of more characters. 0 where
	// strings were not looked for.
	Noted int

	// NoRefs tells that no object of the document has a member of a name under which
	// the protocol refers to resources and tasks. False where that is not known.
	NoRefs bool

	at spans
}

// spans are where the values that may be replaced or cut out stand in Raw.
type spans [spanCount]rawjson.Span

const (
	atID = iota
	atParams
	atResult
	atError
	atMeta          // params._meta
	atMetaToken     // params._meta.progressToken
	atProgressToken // params.progressToken
	atRequestID     // params.requestId
	atProxy         // params.proxy
	atNullParams    // params that are null and count as absent
	spanCount
)

// slice points Params, Result and Error into Raw.
func (m *Message) slice() {
	m.Params, m.Result, m.Error = m.at[atParams].Of(m.Raw), m.at[atResult].Of(m.Raw), m.at[atError].Of(m.Raw)
}

// Kind says what a message is for.
type Kind int

// The kinds of messages.
const (
	Request Kind = iota + 1
	Notification
	Response
)

func (k Kind) String() string {
	switch k {
	case Request:
		return "request"
	case Notification:
		return "notification"
	case Response:
		return "response"
	}
	return "no message"
}

// Kind tells a request (method and id) from a notification (method alone) and a
// response.
func (m *Message) Kind() Kind {
	switch {
	case m.Method == "":
		return Response
	case m.ID.IsZero():
		return Notification
	}
	return Request
}

// The notifications whose params name a request.
const (
	methodProgress  = "notifications/progress"
	methodCancelled = "notifications/cancelled"
)

// Meta returns params._meta as raw JSON, nil where there is none.
func (m *Message) Meta() []byte { return m.at[atMeta].Of(m.Raw) }

// ProgressToken returns the raw token under which progress is reported: in a
// request that of params._meta, in a progress notification that of params. It is
// nil where there is none or it is neither a string nor a number.
func (m *Message) ProgressToken() []byte {
	raw := m.tokenSpan().Of(m.Raw)
	if IDOf(raw).IsZero() {
		return nil
	}
	return raw
}

func (m *Message) tokenSpan() rawjson.Span {
	if m.Method == methodProgress {
		return m.at[atProgressToken]
	}
	return m.at[atMetaToken]
}

// RequestID returns the id of the request that a notifications/cancelled is about;
// zero for any other message.
func (m *Message) RequestID() ID {
	if m.Method != methodCancelled {
		return ID{}
	}
	return IDOf(m.at[atRequestID].Of(m.Raw))
}

// ErrorCode returns the code of an error response; 0 for any other message, and
// where it is too large to be one.
func (m *Message) ErrorCode() int {
	code, err := strconv.Atoi(string(rawjson.Get(m.Error, "code")))
	if err != nil {
		return 0
	}
	return code
}

// ErrorData returns the data of an error response as raw JSON, nil where there is
// none.
func (m *Message) ErrorData() []byte { return rawjson.Get(m.Error, "data") }
