package proxy

import (
	"bytes"
	"io"
	"net/http"
)

// notThere are the words in which providers refuse a model that they do not have with another status than 404.
var notThere = [][]byte{
	[]byte("model_not_found"), []byte("invalid_model"), []byte("unknown_model"), []byte("model not exist"), []byte("not a valid model"), []byte("unknown model"),
	[]byte("model not found"), []byte("no such model"),
}

// saysNoModel reports whether a provider's answer can mean that it has no such model. That is told in our own words to those from whom models are
// hidden: a denied one is answered by us, and one that there is not by its provider.
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
