package llm

import (
	"net/http"
	"sync"
)

// Seen is a request with its answer.
type Seen struct {
	Method, Path, Query string
	Header              http.Header
	Body                []byte // decoded
	Status              int    // 0: no answer
	Answer              []byte
	Counts              Counts // if a provider counted it
}

// log records requests.
type log struct {
	mu   sync.Mutex
	seen []*record // guarded by mu; an entry is final once it is done
}

type record struct {
	Seen

	done chan struct{}
}

// begin records a request and returns its number.
func (l *log) begin(r *http.Request, body []byte) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen = append(l.seen, &record{
		Seen: Seen{Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Header: r.Header.Clone(), Body: body},
		done: make(chan struct{}),
	})
	return len(l.seen) - 1
}

// end records the answer to a request.
func (l *log) end(n, status int, answer []byte, counts Counts) {
	l.mu.Lock()
	e := l.seen[n]
	l.mu.Unlock()
	e.Status, e.Answer, e.Counts = status, answer, counts
	close(e.done)
}

// requests returns those to a path so far, once they are answered; "": all.
func (l *log) requests(path string) (found []Seen) {
	l.mu.Lock()
	all := append([]*record(nil), l.seen...)
	l.mu.Unlock()
	for _, e := range all {
		if path == "" || e.Path == path {
			<-e.done
			found = append(found, e.Seen)
		}
	}
	return found
}
