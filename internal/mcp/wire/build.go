package wire

import "secateur/internal/rawjson"

// NewRequest builds a request. Params must be well-formed raw JSON without duplicate names; nil:
// none.
func NewRequest(id ID, method string, params []byte) Message { return newCall(id, method, params) }

// NewNotification builds a notification. Params are as in NewRequest.
func NewNotification(method string, params []byte) Message { return newCall(ID{}, method, params) }

func newCall(id ID, method string, params []byte) Message {
	params = rawjson.Trim(params)
	m := Message{ID: id, Method: method}
	o := append(make(rawjson.Object, 0, len(start)+len(id.text)+len(method)+len(params)+32), start...)
	if !id.IsZero() {
		o.Raw("id", []byte(id.text))
		m.at[atID] = rawjson.Span{Start: len(o) - len(id.text), End: len(o)}
	}
	o.Text("method", method)
	if len(params) > 0 {
		o.Raw("params", params)
		m.at[atParams] = rawjson.Span{Start: len(o) - len(params), End: len(o)}
	}
	o.End()
	m.Raw = o
	m.readParams()
	return m
}

// start begins every message that this package builds.
const start = `{"jsonrpc":"2.0"`

// AppendResult appends a complete response to request id with the given raw JSON result.
func AppendResult(dst []byte, id ID, result []byte) []byte {
	return append(append(appendResponse(dst, id, `,"result":`), result...), '}')
}

// AppendResultFunc is like AppendResult, but write appends the result.
func AppendResultFunc(dst []byte, id ID, write func(dst []byte) []byte) []byte {
	return append(write(appendResponse(dst, id, `,"result":`)), '}')
}

// AppendErrorObject appends a complete response to request id with the given raw JSON error object.
func AppendErrorObject(dst []byte, id ID, object []byte) []byte {
	return append(append(appendResponse(dst, id, `,"error":`), object...), '}')
}

// appendResponse appends a response up to the value of its result or error.
func appendResponse(dst []byte, id ID, member string) []byte {
	dst = append(dst, start+`,"id":`...)
	return append(id.Append(dst), member...)
}
