package era

import "secateur/internal/rawjson"

// An InputRequest is a question that a result asks back: what legacy servers send
// as a request of their own.
type InputRequest struct {
	Key    string // that the answer goes by
	Method string // "" where the server did not say
	Params []byte // raw, nil where there are none
}

// ReadInputRequired reads a result that asks back, in the order of the document. The
// state is the raw value that is to come back with the answers, nil where there is
// none. Ok tells whether it is such a result.
func ReadInputRequired(result []byte) (reqs []InputRequest, state []byte, ok bool) {
	found := rawjson.FindAll(result, "resultType", "inputRequests", "requestState")
	if string(rawjson.Word(found[0].Of(result))) != InputRequired {
		return nil, nil, false
	}
	requests := found[1].Of(result)
	index := map[string]int{}
	for name, at := range rawjson.Members(requests) {
		key, value := string(name), at.Of(requests)
		req := InputRequest{Key: key, Method: rawjson.GetText(value, "method")}
		if params := rawjson.Get(value, "params"); !rawjson.IsNothing(params) {
			req.Params = params
		}
		if i, twice := index[key]; twice {
			reqs[i] = req
			continue
		}
		index[key] = len(reqs)
		reqs = append(reqs, req)
	}
	if raw := found[2].Of(result); !rawjson.IsNothing(raw) {
		state = raw
	}
	return reqs, state, true
}

// AppendInputRequired appends a result that asks back. No state is written where it
// is "".
func AppendInputRequired(dst []byte, reqs []InputRequest, state string) []byte {
	o := rawjson.Object(append(dst, '{'))
	o.Text("resultType", InputRequired)
	if len(reqs) > 0 {
		o.Begin("inputRequests")
		for _, r := range reqs {
			o.Begin(r.Key)
			o.Text("method", r.Method)
			params := r.Params
			if params == nil {
				params = []byte("{}") // some clients cannot do without
			}
			o.Raw("params", params)
			o.End()
		}
		o.End()
	}
	if state != "" {
		o.Text(requestState, state)
	}
	return append(o, '}')
}

// An InputResponse is the answer to an InputRequest.
type InputResponse struct {
	Key   string
	Value []byte // the raw result
}

// The members of params with which a request comes again.
const (
	inputResponses = "inputResponses"
	requestState   = "requestState"
)

// RetryParams returns the params with which a request comes again: the original
// ones, nil where there were none, with the answers and the state that the server
// wants back, nil for none, in the place of any that were there.
func RetryParams(params []byte, responses []InputResponse, state []byte) []byte {
	if len(params) == 0 {
		params = []byte(`{}`)
	}
	params = WithoutRetry(params)
	var fresh rawjson.Object
	if len(responses) > 0 {
		fresh.Begin(inputResponses)
		for _, r := range responses {
			fresh.Raw(r.Key, r.Value)
		}
		fresh.End()
	}
	if state != nil {
		fresh.Raw(requestState, state)
	}
	if len(fresh) == 0 || !rawjson.IsObject(params) {
		return params
	}
	return rawjson.Edited(params, []rawjson.Edit{rawjson.Insert(params, rawjson.Whole(params), fresh)})
}

// ReadRetry reads the params of a request that may come again. Ok tells whether it
// does: whether there are answers or a state. The state is "" where there is none
// or it is no string.
func ReadRetry(params []byte) (responses []InputResponse, state string, ok bool) {
	found := rawjson.FindAll(params, inputResponses, requestState)
	raw, rawState := found[0].Of(params), found[1].Of(params)
	index := map[string]int{}
	for name, at := range rawjson.Members(raw) {
		key, value := string(name), at.Of(raw)
		if i, twice := index[key]; twice {
			responses[i].Value = value
			continue
		}
		index[key] = len(responses)
		responses = append(responses, InputResponse{key, value})
	}
	state, _ = rawjson.Text(rawState)
	return responses, state, !rawjson.IsNothing(raw) || !rawjson.IsNothing(rawState)
}

// WithoutRetry returns params as they were before the request came again; the same
// slice if it does not.
func WithoutRetry(params []byte) []byte { return rawjson.Remove(params, inputResponses, requestState) }
