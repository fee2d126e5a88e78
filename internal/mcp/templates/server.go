package templates

import (
	"context"
	"maps"
	"slices"
	"sync"

	"secateur/internal/mcp/toolserver"
	"secateur/internal/mcp/wire"
	"secateur/internal/rawjson"
)

// maxSubscribed limits the subscribed resources of a connection.
const maxSubscribed = 4096

// codeNotFound is MCP's code for a resource that does not exist (revisions up to 2025-11-25).
const codeNotFound = -32002

// Server is the MCP server of one connection. It speaks the legacy era.
type Server struct {
	*toolserver.Server

	book *Book

	mu         sync.Mutex // guards the field below
	subscribed map[string]struct{}
}

// NewServer returns the server of a connection.
func NewServer(book *Book, version string) (*Server, error) {
	s := &Server{book: book, subscribed: map[string]struct{}{}}
	var err error
	s.Server, err = toolserver.New(toolserver.Options{
		Name: "secateur", Title: "secateur", Version: version, Capabilities: `{"resources":{"subscribe":true,"listChanged":true}}`,
		Methods: map[string]toolserver.Method{
			"resources/templates/list": s.list,
			"resources/read":           s.read,
			"resources/subscribe":      s.subscribe,
			"resources/unsubscribe":    s.unsubscribe,
		},
	})
	return s, err
}

// Listen subscribes to changes until stop is called. next waits for the notifications of a change.
func (s *Server) Listen() (next func(context.Context) ([][]byte, error), stop func()) {
	news, stop := s.book.listen()
	return func(ctx context.Context) ([][]byte, error) {
		listed, changed, err := news.next(ctx)
		if err != nil {
			return nil, err
		}
		var messages [][]byte
		if listed {
			messages = append(messages, wire.NewNotification("notifications/resources/list_changed", nil).Raw)
		}
		for _, uri := range s.concerned(changed) {
			params := rawjson.Object{'{'}
			params.Text("uri", uri)
			messages = append(messages, wire.NewNotification("notifications/resources/updated", append(params, '}')).Raw)
		}
		return messages, nil
	}, stop
}

// concerned returns the subscribed resources of the templates that have changed.
func (s *Server) concerned(changed map[*pattern]struct{}) (uris []string) {
	s.mu.Lock()
	subscribed := slices.Sorted(maps.Keys(s.subscribed))
	s.mu.Unlock()
	for _, uri := range subscribed {
		for p := range changed {
			if _, ok := p.match(uri); ok {
				uris = append(uris, uri)
				break
			}
		}
	}
	return uris
}

// list returns all templates; they are too few for pages.
func (s *Server) list(context.Context, *wire.Message) ([]byte, *wire.Error) {
	out := []byte(`{"resourceTemplates":[`)
	for i, t := range s.book.List() {
		if i > 0 {
			out = append(out, ',')
		}
		one := rawjson.Object{'{'}
		one.Text("uriTemplate", t.URITemplate)
		one.Text("name", t.Name)
		one.Text("mimeType", t.MIMEType)
		out = append(append(out, one...), '}')
	}
	return append(out, `]}`...), nil
}

func (s *Server) read(_ context.Context, req *wire.Message) ([]byte, *wire.Error) {
	uri := rawjson.GetText(req.Params, "uri")
	mimeType, text, found, tooLarge := s.book.read(uri)
	switch {
	case !found:
		return nil, notFound(uri)
	case tooLarge:
		return nil, wire.InvalidParams("/uri", "its variables make the text too large")
	}
	one := rawjson.Object{'{'}
	one.Text("uri", uri)
	one.Text("mimeType", mimeType)
	one.Text("text", text)
	out := append([]byte(`{"contents":[`), one...)
	return append(out, `}]}`...), nil
}

func (s *Server) subscribe(_ context.Context, req *wire.Message) ([]byte, *wire.Error) {
	uri := rawjson.GetText(req.Params, "uri")
	if _, _, found, _ := s.book.read(uri); !found {
		return nil, notFound(uri)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, twice := s.subscribed[uri]; !twice && len(s.subscribed) >= maxSubscribed {
		return nil, wire.InvalidParams("/uri", "too many resources are subscribed to")
	}
	s.subscribed[uri] = struct{}{}
	return []byte("{}"), nil
}

func (s *Server) unsubscribe(_ context.Context, req *wire.Message) ([]byte, *wire.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.subscribed, rawjson.GetText(req.Params, "uri"))
	return []byte("{}"), nil
}

func notFound(uri string) *wire.Error {
	const most = 200
	if len(uri) > most {
		uri = uri[:most] + "…"
	}
	return wire.NewError(codeNotFound, "Resource not found: "+uri)
}
