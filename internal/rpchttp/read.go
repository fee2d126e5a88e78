package rpchttp

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"secateur/internal/buffer"
)

// bodyTime is how long a client may take to send its request.
const bodyTime = 60 * time.Second

// Read reads the whole body of a request, limit bytes at most. The buffer is the caller's to release.
func Read(w http.ResponseWriter, r *http.Request, limit int64) (Buffer, *Failure) {
	if r.ContentLength > limit {
		return Buffer{}, TooLarge(limit)
	}
	if e := r.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return Buffer{}, InvalidRequest(http.StatusUnsupportedMediaType, "the request is encoded; send it plain")
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTime)) // a writer without deadlines is a test's
	bytes, err := buffer.Read(r.Body, r.ContentLength, int(limit))
	body := Buffer{bytes, true}
	switch {
	case err == nil:
		_ = control.SetReadDeadline(time.Time{})
		return body, nil
	case errors.Is(err, buffer.ErrTooLong):
		body.Release()
		return Buffer{}, TooLarge(limit)
	default:
		body.Release()
		return Buffer{}, InvalidRequest(http.StatusBadRequest, "the request ended before it was whole")
	}
}

var contentType = []string{"application/json"}

// Write sends a whole JSON answer.
func Write(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h["Content-Type"] = contentType
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that went away has no use for an error
}
