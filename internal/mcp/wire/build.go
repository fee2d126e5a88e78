package wire

import "secateur/internal/rawjson"

// NewRequest makes a request. Params are raw JSON that is well-formed and has no name
// twice, nil for none.
func NewRequest(id ID, method string, params []byte) Message { return newCall(id, method, params) }

// NewNotification makes a notification. Params are as in NewRequest.
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

// start is how every message of ours begins.
const start = `{"jsonrpc":"2.0"`

// AppendResult appends the whole response with this result, raw JSON, to the
// request id.
func AppendResult(dst []byte, id ID, result []byte) []byte {
	return append(append(appendResponse(dst, id, `,"result":`), result...), '}')
}

// AppendResultFunc is AppendResult for a result that write appends.
func AppendResultFunc(dst []byte, id ID, write func(dst []byte) []byte) []byte {
	return append(write(appendResponse(dst, id, `,"result":`)), '}')
}

// AppendErrorObject appends the whole response with an error that is raw JSON, to the
// request id.
func AppendErrorObject(dst []byte, id ID, object []byte) []byte {
	return append(append(appendResponse(dst, id, `,"error":`), object...), '}')
}

// appendResponse appends a response up to its result or error.
func appendResponse(dst []byte, id ID, member string) []byte {
	dst = append(dst, start+`,"id":`...)
	return append(id.Append(dst), member...)
}
