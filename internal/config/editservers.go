package config

import (
	"errors"
	"fmt"

	"secateur/internal/config/document"
)

// ErrNoServer means that a file has no server with the id.
var ErrNoServer = errors.New("the file lists no such server")

// InsertServer adds a server to the text of a file, next to its other servers.
func (l ServerList) InsertServer(path string, data []byte, s FileServer) ([]byte, error) {
	at, fields := l.Into, s.Fields
	if !at.List {
		at.Name, fields = s.ID, asClient(s.Fields)
	}
	return document.Insert(document.FormatOf(path, data), data, at, fields)
}

// ReplaceServer rewrites a server in place.
func (l ServerList) ReplaceServer(path string, data []byte, s FileServer) ([]byte, error) {
	at, ok := l.place(s.ID)
	if !ok {
		return nil, fmt.Errorf("%s: %w: %s", path, ErrNoServer, s.ID)
	}
	fields := s.Fields
	if at.Name != "" {
		fields = asClient(s.Fields)
	}
	return document.Replace(document.FormatOf(path, data), data, at, fields)
}

// RemoveServer removes a server from the text of a file.
func (l ServerList) RemoveServer(path string, data []byte, id string) ([]byte, error) {
	at, ok := l.place(id)
	if !ok {
		return nil, fmt.Errorf("%s: %w: %s", path, ErrNoServer, id)
	}
	return document.Remove(document.FormatOf(path, data), data, at)
}

func (l ServerList) place(id string) (document.Place, bool) {
	for _, s := range l.Servers {
		if s.ID == id {
			return s.Place, true
		}
	}
	return document.Place{}, false
}

// ReadFields reads the keys of a server from a JSON object, in their order.
func ReadFields(data []byte) ([]document.Field, error) {
	root, found, whole := parseJSON(data)
	if !whole || len(found) > 0 || root == nil || root.kind != kindTable {
		return nil, errors.New("it is no JSON object with each key once")
	}
	fields, _ := written(root).([]document.Field)
	return fields, nil
}

// asClient converts a server to the form of clients: without its id, and with the program separate
// from its arguments.
func asClient(fields []document.Field) []document.Field {
	var out []document.Field
	for _, f := range fields {
		argv, isList := f.Value.([]any)
		switch {
		case f.Name == "id":
		case f.Name == "command" && isList && len(argv) > 0:
			out = append(out, document.Field{Name: "command", Value: argv[0]})
			if len(argv) > 1 {
				out = append(out, document.Field{Name: "args", Value: argv[1:]})
			}
		default:
			out = append(out, f)
		}
	}
	return out
}
