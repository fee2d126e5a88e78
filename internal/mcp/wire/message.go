package wire

import (
	"strconv"

	"secateur/internal/rawjson"
)

// A Message is one JSON-RPC message. Its slices point into Raw.
type Message struct {
	Raw    []byte // the document without surrounding white space
	ID     ID     // zero: a notification, or an error response whose id is null
	Method string // "" for a response

	Params, Result, Error []byte // raw values; nil: absent

	Name string // params.name if it is a string: the tool or the prompt
	URI  string // params.uri if it is a string: the resource
	Task string // params.taskId if it is a string: the task

	// Long lists the string values in result or error.data with more than Noted characters. Offsets
	// are relative to Raw.
	Long []rawjson.String

	// Noted is the length above which strings were recorded in Long. 0: none were recorded.
	Noted int

	// NoRefs is true if no object in the document has a member name under which MCP refers to
	// resources or tasks. False also means unknown.
	NoRefs bool

	at spans
}

// spans are the offsets in Raw of the values that can be replaced or removed.
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
	atNullParams    // a null params member, treated as absent
	spanCount
)

// slice points Params, Result and Error into Raw.
func (m *Message) slice() {
	m.Params, m.Result, m.Error = m.at[atParams].Of(m.Raw), m.at[atResult].Of(m.Raw), m.at[atError].Of(m.Raw)
}

// Kind is the kind of a message.
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

// Kind returns Request (method and id), Notification (method only) or Response.
func (m *Message) Kind() Kind {
	switch {
	case m.Method == "":
		return Response
	case m.ID.IsZero():
		return Notification
	}
	return Request
}

// The notifications whose params refer to a request.
const (
	methodProgress  = "notifications/progress"
	methodCancelled = "notifications/cancelled"
)

// Meta returns params._meta as raw JSON; nil: absent.
func (m *Message) Meta() []byte { return m.at[atMeta].Of(m.Raw) }

// ProgressToken returns the raw progress token. In a progress notification it is in params, in a
// request in params._meta. It returns nil if the token is absent or neither a string nor a number.
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

// RequestID returns the id of the request that a notifications/cancelled refers to. It is zero for
// any other message.
func (m *Message) RequestID() ID {
	if m.Method != methodCancelled {
		return ID{}
	}
	return IDOf(m.at[atRequestID].Of(m.Raw))
}

// ErrorCode returns the code of an error response. It returns 0 for any other message, or if the
// code overflows an int.
func (m *Message) ErrorCode() int {
	code, err := strconv.Atoi(string(rawjson.Get(m.Error, "code")))
	if err != nil {
		return 0
	}
	return code
}

// ErrorData returns the data of an error response as raw JSON; nil: none.
func (m *Message) ErrorData() []byte { return rawjson.Get(m.Error, "data") }
