package access

import "strings"

// Door is an endpoint that clients connect to.
type Door string

// The doors that rules distinguish.
const (
	DoorGateway Door = "gateway"
	DoorMCP     Door = "mcp"
	DoorChat    Door = "chat"
	DoorPruner  Door = "pruner"
	DoorAdmin   Door = "admin"
)

// TargetKind is the kind of a target.
type TargetKind uint8

// The kinds of target.
const (
	KindNone     TargetKind = iota // no name: the server itself, or a method of no other kind
	KindTool                       // by the server's own name
	KindPrompt                     // by the server's own name
	KindResource                   // by the server's own URI
	KindModel                      // as requested, or as resolved
	KindRoute                      // by its path
)

var kindWords = [...]string{"", "tool", "prompt", "resource", "model", "route"}

// IsNameless reports whether the name of a tool, prompt or resource could not be read. A server
// might then read any name.
func (t Target) IsNameless() bool {
	return t.Name == "" && (t.Kind == KindTool || t.Kind == KindPrompt || t.Kind == KindResource)
}

// String returns the word for people, which is also the key in a rule.
func (k TargetKind) String() string { return kindWords[k] }

// Target is what a caller asks for, by resolved names.
type Target struct {
	Door   Door
	Server string // "": none
	Kind   TargetKind
	Name   string
	Also   string // the resolved provider/model if Name is the requested model; "": none
}

// String returns the form used by explain and the audit log.
func (t Target) String() string {
	name := t.Name
	if t.Server != "" {
		name = t.Server + "::" + name
	}
	switch t.Kind {
	case KindNone:
		return t.Server
	case KindTool:
		return name
	default:
		return t.Kind.String() + ":" + name
	}
}

// ParseTarget parses the output of String: server::tool, prompt:server::name, resource:uri or
// resource:server::uri, model:name, route:path. Any other word is a server.
func ParseTarget(text string) (t Target, ok bool) {
	for k := KindPrompt; k <= KindRoute; k++ {
		name, found := strings.CutPrefix(text, k.String()+":")
		if !found {
			continue
		}
		t = Target{Door: DoorMCP, Kind: k, Name: name}
		switch k {
		case KindModel:
			t.Door = DoorChat
		case KindRoute:
			t.Door = DoorAdmin
			if strings.HasPrefix(name, "/v1/") {
				t.Door = DoorChat
			}
		default:
			if server, rest, cut := strings.Cut(name, "::"); cut && isServerID(server) {
				t.Server, t.Name = server, rest
			}
		}
		return t, t.Name != ""
	}
	server, tool, cut := strings.Cut(text, "::")
	if !isServerID(server) || cut && tool == "" {
		return Target{}, false
	}
	t = Target{Door: DoorMCP, Server: server}
	if cut {
		t.Kind, t.Name = KindTool, tool
	}
	return t, true
}

func isServerID(s string) bool {
	return s != "" && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}
