package toolserver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"

	"secateur/internal/mcp/wire"
	"secateur/internal/rawjson"

	"github.com/go-json-experiment/json/jsontext"
)

// Tool is one tool of a server.
type Tool struct {
	Name        string
	Description string
	Schema      string // JSON Schema of the arguments, listed unchanged
	Unlisted    bool   // an alias: callable, but not listed
	ReadOnly    bool   // changes nothing; its annotations tell the client
	OpenWorld   bool   // with ReadOnly: reaches beyond this machine

	// Judges says which violations of the schema the tool handles itself; nil: none.
	Judges func(Violation) bool
	// Call does the work on arguments that fit the schema.
	Call func(ctx context.Context, arguments jsontext.Value) (Result, *wire.Error)
}

// Result is the result of a tool call.
type Result struct {
	Text       string // content[0].text
	Structured []byte // a JSON object, or nil
	IsError    bool   // the tool failed; Text tells the model why
}

// Method answers a request beyond those of MCP's tools. Its result is a JSON value.
type Method func(ctx context.Context, req *wire.Message) (result []byte, err *wire.Error)

// Options configure a Server.
type Options struct {
	Name, Title, Version string
	Instructions         string // for the model; may be empty
	Tools                []Tool
	Brief                []Tool            // in place of Tools for requests marked by WithBrief; nil: Tools
	Capabilities         string            // a JSON object; "": tools only
	Methods              map[string]Method // further methods by name; may be nil
	Log                  *slog.Logger      // nil discards
}

// Server answers the messages of MCP clients. It keeps no state between messages, so any number of
// clients may share it.
type Server struct {
	opt     Options
	full    *table
	brief   *table // nil: full
	methods map[string]method
	info    []byte // serverInfo
}

// table is a set of tools.
type table struct {
	tools map[string]*boundTool
	names []string // of the listed tools
	list  method
}

// method is a Method that also gets its parsed params.
type method func(ctx context.Context, req *wire.Message, p params) ([]byte, *wire.Error)

type boundTool struct {
	Tool
	schema *Schema
}

// New returns a server. A tool whose schema cannot be checked is an error.
func New(opt Options) (*Server, error) {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if opt.Capabilities == "" {
		opt.Capabilities = capabilities
	}
	s := &Server{opt: opt, info: infoOf(opt)}
	var err error
	if s.full, err = s.newTable(opt.Tools, false); err != nil {
		return nil, err
	}
	if opt.Brief != nil {
		if s.brief, err = s.newTable(opt.Brief, true); err != nil {
			return nil, err
		}
	}
	s.methods = map[string]method{
		"initialize":               s.initialize,
		"server/discover":          s.discover,
		"ping":                     s.ping,
		"tools/list":               s.listTools,
		"tools/call":               s.call,
		"resources/list":           s.list("resources", []byte("[]")),
		"resources/templates/list": s.list("resourceTemplates", []byte("[]")),
		"prompts/list":             s.list("prompts", []byte("[]")),
	}
	for name, m := range opt.Methods {
		s.methods[name] = func(ctx context.Context, req *wire.Message, _ params) ([]byte, *wire.Error) { return m(ctx, req) }
	}
	return s, nil
}

// newTable binds tools and renders their list.
func (s *Server) newTable(tools []Tool, brief bool) (*table, error) {
	t := &table{tools: map[string]*boundTool{}}
	list := []byte{'['}
	for _, tool := range tools {
		if err := t.bind(tool); err != nil {
			return nil, fmt.Errorf("tool %s: %w", tool.Name, err)
		}
		if tool.Unlisted {
			continue
		}
		if len(t.names) > 0 {
			list = append(list, ',')
		}
		list = appendTool(list, tool, brief)
		t.names = append(t.names, tool.Name)
	}
	t.list = s.list("tools", append(list, ']'))
	return t, nil
}

func (t *table) bind(tool Tool) error {
	schema, err := ParseSchema(tool.Schema)
	if err != nil {
		return err
	}
	if tool.Call == nil {
		return errors.New("no Call")
	}
	if t.tools[tool.Name] != nil {
		return errors.New("defined twice")
	}
	t.tools[tool.Name] = &boundTool{tool, schema}
	return nil
}

// Serve answers one message; nil for a notification or a response, which this server never
// requests.
func (s *Server) Serve(ctx context.Context, msg *wire.Message) []byte {
	if msg.Kind() != wire.Request {
		return nil
	}
	result, err := s.Answer(ctx, msg)
	if err != nil {
		return err.AppendResponse(nil, msg.ID)
	}
	return wire.AppendResult(make([]byte, 0, len(result)+64), msg.ID, result)
}

// Answer is Serve for a caller that needs to know whether a request failed. It returns the result,
// a JSON value, or the error. A panic ends one call, not the program.
func (s *Server) Answer(ctx context.Context, msg *wire.Message) (result []byte, failed *wire.Error) {
	defer func() {
		if p := recover(); p != nil {
			s.opt.Log.ErrorContext(ctx, "method panicked", "server", s.opt.Name, "panic", p, "stack", string(debug.Stack()))
			result, failed = nil, wire.NewError(wire.CodeInternal, "internal error")
		}
	}()
	method, known := s.methods[msg.Method]
	if !known {
		return nil, unknownMethod(msg.Method)
	}
	p, failed := parse(msg)
	if failed != nil {
		return nil, failed
	}
	return method(ctx, msg, p)
}

func (s *Server) ping(_ context.Context, req *wire.Message, p params) ([]byte, *wire.Error) {
	if p.modern {
		return nil, unknownMethod(req.Method)
	}
	return []byte("{}"), nil
}

func (s *Server) listTools(ctx context.Context, req *wire.Message, p params) ([]byte, *wire.Error) {
	return s.tableFor(ctx).list(ctx, req, p)
}

// list answers a list method with a single page. No cursor is ever issued, so none is valid.
func (s *Server) list(member string, page []byte) method {
	whole := slices.Concat([]byte(`{"`+member+`":`), page)
	return func(_ context.Context, _ *wire.Message, p params) ([]byte, *wire.Error) {
		cursor, err := p.text("cursor")
		if err == nil && cursor != "" {
			err = wire.InvalidParams("/cursor", "is not known here")
		}
		if err != nil {
			return nil, err
		}
		if !p.modern {
			return append(slices.Clone(whole), '}'), nil
		}
		return s.modern(slices.Clone(whole), cacheable), nil
	}
}

// Has reports whether a tool of this name exists, listed or not.
func (s *Server) Has(name string) bool {
	_, known := s.full.tools[name]
	return known
}

func (s *Server) call(ctx context.Context, _ *wire.Message, p params) ([]byte, *wire.Error) {
	result, err := s.tableFor(ctx).call(ctx, p)
	if err != nil {
		return nil, err
	}
	return s.result(result, p.modern), nil
}

func (t *table) call(ctx context.Context, p params) (Result, *wire.Error) {
	name, err := p.text("name")
	if err != nil {
		return Result{}, err
	}
	tool, known := t.tools[name]
	if !known {
		problem := fmt.Sprintf("unknown tool %q", short(name))
		if !p.Has("name") {
			problem = "is missing"
		}
		e := wire.InvalidParams("/name", problem)
		e.Data.Hint = "the tools here are " + strings.Join(t.names, ", ")
		return Result{}, e
	}
	arguments := p.Arguments["arguments"]
	if !p.Has("arguments") {
		arguments = []byte("{}")
	}
	if found := tool.schema.check(arguments, tool.Judges); len(found) > 0 {
		return Result{}, invalidArguments(tool.Name, found)
	}
	result, err := tool.Call(ctx, arguments)
	if BriefChars(ctx) > 0 {
		err = withHint(err)
	}
	return result, err
}

func unknownMethod(name string) *wire.Error {
	return wire.NewError(wire.CodeMethodNotFound, "method not found: "+short(name))
}

func invalidArguments(tool string, found []Violation) *wire.Error {
	texts := make([]string, len(found))
	for i, v := range found {
		texts[i] = strings.TrimSpace(v.Path + " " + v.Message)
	}
	e := wire.InvalidParams(found[0].Path, "")
	e.Message = "invalid arguments for " + tool + ": " + strings.Join(texts, "; ")
	if found[0].Path == "" {
		// the arguments as a whole; an empty path would be omitted
		e.Data.Extra = []byte(`"path":""`)
	}
	e.Data.Errors = appendViolations(nil, found)
	return e
}

func appendViolations(out []byte, found []Violation) []byte {
	for i, v := range found {
		out = append(out, "[,"[min(i, 1)])
		o := rawjson.Object(append(out, '{'))
		o.Text("path", v.Path)
		o.Text("message", v.Message)
		o.End()
		out = o
	}
	return append(out, ']')
}
