package proxy

import (
	"bytes"
	"io"
	"net/http"
)

// notThere lists the phrases with which providers refuse an unknown model with a status other than
// 404.
var notThere = [][]byte{
	[]byte("model_not_found"), []byte("invalid_model"), []byte("unknown_model"), []byte("model not exist"), []byte("not a valid model"), []byte("unknown model"),
	[]byte("model not found"), []byte("no such model"),
}

// saysNoModel reports whether a provider's response can mean an unknown model. Callers with hidden
// models get our own response instead: otherwise they could tell a denied model, which we refuse,
// from an absent one.
func saysNoModel(res *http.Response) bool {
	switch res.StatusCode {
	case http.StatusNotFound:
		return true
	case http.StatusBadRequest, http.StatusForbidden, http.StatusUnprocessableEntity:
	default:
		return false
	}
	head, err := io.ReadAll(io.LimitReader(res.Body, maxAhead))
	body := res.Body
	res.Body = &resumed{Reader: io.MultiReader(bytes.NewReader(head), &failed{err, body}), Closer: body}
	if isEncoded(res.Header) {
		head = unpack(head)
	}
	head = bytes.ToLower(head)
	for _, words := range notThere {
		if bytes.Contains(head, words) {
			return true
		}
	}
	return bytes.Contains(head, []byte("model")) && bytes.Contains(head, []byte("does not exist"))
}
