package rpchttp

import (
	"errors"
	"net/http"
	"strconv"

	"secateur/internal/access"
	"secateur/internal/front/budget"
	"secateur/internal/front/datarate"
	"secateur/internal/mcp/buffer"
)

// Read reads the whole body of a request, at most limit bytes. The caller releases the buffer.
func Read(w http.ResponseWriter, r *http.Request, limit int64) (Buffer, *Failure) {
	if e := r.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return Buffer{}, InvalidRequest(http.StatusUnsupportedMediaType, "the request is encoded; send it plain")
	}
	bytes, err := buffer.Read(r.Body, r.ContentLength, int(limit))
	body := Buffer{bytes, true}
	if err == nil {
		return body, nil
	}
	body.Release()
	switch {
	case errors.Is(err, buffer.ErrTooLong):
		return Buffer{}, TooLarge(limit)
	case errors.Is(err, datarate.ErrTooSlow):
		w.Header().Set("Connection", "close")
		return Buffer{}, InvalidRequest(http.StatusRequestTimeout, "the request came too slowly")
	case errors.Is(err, budget.ErrFull):
		w.Header().Set("Connection", "close")
		return Buffer{}, Overloaded()
	case errors.Is(err, access.ErrBodyHash):
		f := Unauthorized(err.Error(), access.CauseInvalid)
		f.header = http.Header{"Www-Authenticate": {access.InvalidChallenge}}
		return Buffer{}, f
	}
	return Buffer{}, InvalidRequest(http.StatusBadRequest, "the request ended before it was whole")
}

var contentType = []string{"application/json"}

// Write sends a complete JSON answer.
func Write(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h["Content-Type"] = contentType
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that left needs no error
}
