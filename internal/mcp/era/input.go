package era

import "secateur/internal/rawjson"

// An InputRequest is a question that a result asks the client. Legacy servers send it as a separate
// request.
type InputRequest struct {
	Key    string // identifies the answer
	Method string // "": the server gave none
	Params []byte // raw; nil: none
}

// ReadInputRequired parses a result that asks for input; requests are in document order. state is
// the raw value that must come back with the answers; nil: none. ok reports whether the result asks
// for input.
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

// AppendInputRequired appends a result that asks for input. An empty state is omitted.
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
				params = []byte("{}") // some clients require params
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

// The params members that a retried request adds.
const (
	inputResponses = "inputResponses"
	requestState   = "requestState"
)

// RetryParams returns the params for a retry: the original params (nil: none) with the answers and
// the server's state (nil: none). They replace any earlier answers and state.
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

// ReadRetry reads the answers and the state from a request's params. ok reports whether the request
// is a retry, that is, has answers or a state. state is "" if it is absent or not a string.
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

// WithoutRetry returns params without answers and state. It returns the same slice if the request
// is not a retry.
func WithoutRetry(params []byte) []byte { return rawjson.Remove(params, inputResponses, requestState) }
