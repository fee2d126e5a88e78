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
	found := find(result, "resultType", "inputRequests", "requestState")
	if textOf(found[0].of(result)) != InputRequired {
		return nil, nil, false
	}
	requests := found[1].of(result)
	index := map[string]int{}
	eachMember(requests, func(name []byte, m member) {
		key, value := string(name), m.value.of(requests)
		at := find(value, "method", "params")
		req := InputRequest{Key: key, Method: textOf(at[0].of(value))}
		if params := at[1].of(value); !isNothing(params) {
			req.Params = params
		}
		if i, twice := index[key]; twice {
			reqs[i] = req
			return
		}
		index[key] = len(reqs)
		reqs = append(reqs, req)
	})
	if raw := found[2].of(result); !isNothing(raw) {
		state = raw
	}
	return reqs, state, true
}

// AppendInputRequired appends a result that asks back. No state is written where it
// is "".
func AppendInputRequired(dst []byte, reqs []InputRequest, state string) []byte {
	dst = append(dst, `{"resultType":"input_required"`...)
	if len(reqs) > 0 {
		dst = append(dst, `,"inputRequests":{`...)
		for i, r := range reqs {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(rawjson.AppendQuoted(dst, r.Key), `:{"method":`...)
			dst = rawjson.AppendQuoted(dst, r.Method)
			dst = append(dst, `,"params":`...)
			if r.Params == nil {
				dst = append(dst, "{}"...) // some clients cannot do without
			}
			dst = append(append(dst, r.Params...), '}')
		}
		dst = append(dst, '}')
	}
	if state != "" {
		dst = rawjson.AppendQuoted(append(dst, `,"requestState":`...), state)
	}
	return append(dst, '}')
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
	var fresh []byte
	if len(responses) > 0 {
		all := []byte{'{'}
		for _, r := range responses {
			all = appendMember(all, r.Key, r.Value)
		}
		fresh = appendMember(fresh, inputResponses, append(all, '}'))
	}
	if state != nil {
		fresh = appendMember(fresh, requestState, state)
	}
	if len(fresh) == 0 || !isObject(params) {
		return params
	}
	return edited(params, []edit{appending(params, end(params), fresh)})
}

// ReadRetry reads the params of a request that may come again. Ok tells whether it
// does: whether there are answers or a state. The state is "" where there is none
// or it is no string.
func ReadRetry(params []byte) (responses []InputResponse, state string, ok bool) {
	found := find(params, inputResponses, requestState)
	raw := found[0].of(params)
	index := map[string]int{}
	eachMember(raw, func(name []byte, m member) {
		key, value := string(name), m.value.of(raw)
		if i, twice := index[key]; twice {
			responses[i].Value = value
			return
		}
		index[key] = len(responses)
		responses = append(responses, InputResponse{key, value})
	})
	state, _ = text(found[1].of(params))
	return responses, state, !isNothing(raw) || !isNothing(found[1].of(params))
}

// WithoutRetry returns params as they were before the request came again; the same
// slice if it does not.
func WithoutRetry(params []byte) []byte { return without(params, inputResponses, requestState) }
