package access

import "strings"

// Door is what a client connects to.
type Door string

// The doors that rules tell apart.
const (
	DoorGateway Door = "gateway"
	DoorMCP     Door = "mcp"
	DoorChat    Door = "chat"
	DoorPruner  Door = "pruner"
	DoorAdmin   Door = "admin"
)

// TargetKind is what kind of thing is asked for.
type TargetKind uint8

// The kinds of things.
const (
	KindNone     TargetKind = iota // nothing by name: the server itself, or a method about none of the others
	KindTool                       // by the server's own name
	KindPrompt                     // by the server's own name
	KindResource                   // by the server's own URI
	KindModel                      // as asked for, or as resolved
	KindRoute                      // by its path
)

var kindWords = [...]string{"", "tool", "prompt", "resource", "model", "route"}

// IsNameless reports whether it is one of a server's things whose name could not be read: what a server makes of such a request cannot be known.
func (t Target) IsNameless() bool {
	return t.Name == "" && (t.Kind == KindTool || t.Kind == KindPrompt || t.Kind == KindResource)
}

// String is the word for a person, and the key of a rule.
func (k TargetKind) String() string { return kindWords[k] }

// Target is what a caller asks for, by its resolved names.
type Target struct {
	Door   Door
	Server string // "": none
	Kind   TargetKind
	Name   string
	Also   string // a model's provider/model where Name is what was asked for; "": none
}

// String is the target as explain and the audit write it.
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

// ParseTarget reads what String writes: server::tool, prompt:server::name, resource:uri or resource:server::uri, model:name, route:path.
// A word without any of these is a server.
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
