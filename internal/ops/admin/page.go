package admin

import (
	"encoding/base64"
	"net/http"
	"strconv"
)

// Page is a part of a list.
type Page[T any] struct {
	Items []T     `json:"items"`
	Next  *string `json:"next"` // cursor of the next page; null: this is the last
}

const (
	usualLimit = 100
	mostLimit  = 1000
)

// page returns one page of a list. A cursor names the last item of the previous page, so items
// added or removed meanwhile shift nothing.
func page[T any](r *http.Request, all []T, key func(T) string) (Page[T], error) {
	out := Page[T]{Items: []T{}}
	limit, err := numberOf(r, "limit", usualLimit, mostLimit)
	if err != nil {
		return out, err
	}
	start := 0
	if cursor := r.URL.Query().Get("cursor"); cursor != "" {
		if start, err = after(all, key, cursor); err != nil {
			return out, err
		}
	}
	end := min(start+limit, len(all))
	out.Items = append(out.Items, all[start:end]...)
	if end < len(all) && end > 0 {
		next := base64.RawURLEncoding.EncodeToString([]byte(key(all[end-1])))
		out.Next = &next
	}
	return out, nil
}

func after[T any](all []T, key func(T) string, cursor string) (int, error) {
	if last, err := base64.RawURLEncoding.DecodeString(cursor); err == nil {
		for i, item := range all {
			if key(item) == string(last) {
				return i + 1, nil
			}
		}
	}
	return 0, NewProblem(http.StatusBadRequest, CodeInvalidRequest, "the cursor leads nowhere: what it names is not in the list any more", "ask without a cursor")
}

// numberOf returns a positive number from the query.
func numberOf(r *http.Request, name string, usual, most int) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return usual, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, NewProblem(http.StatusBadRequest, CodeInvalidRequest, name+" is a number from 1 to "+strconv.Itoa(most), "")
	}
	return n, nil
}
