package rpchttp

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
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
	body := Grab(int(max(r.ContentLength, 0)) + 1)        // one more, so that the end is seen without growing
	for {
		n, err := r.Body.Read(body.Bytes[len(body.Bytes):cap(body.Bytes)])
		body.Bytes = body.Bytes[:len(body.Bytes)+n]
		if int64(len(body.Bytes)) > limit {
			body.Release()
			return Buffer{}, TooLarge(limit)
		}
		if errors.Is(err, io.EOF) {
			_ = control.SetReadDeadline(time.Time{})
			return body, nil
		}
		if err != nil {
			body.Release()
			return Buffer{}, InvalidRequest(http.StatusBadRequest, "the request ended before it was whole")
		}
		if len(body.Bytes) == cap(body.Bytes) {
			grown := Grab(2*cap(body.Bytes) + 512)
			grown.Bytes = append(grown.Bytes, body.Bytes...)
			body.Release()
			body = grown
		}
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
