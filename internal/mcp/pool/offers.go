package pool

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/upstream"
)

// offers is what a server declares to have.
type offers struct {
	unknown bool // the server declares nothing at all

	tools, resources, prompts                      bool
	toolsChanged, resourcesChanged, promptsChanged bool // it announces changes of these lists
	logging                                        bool
}

// offersOf reads what the server declared; nil: nothing.
func offersOf(peer *upstream.Peer) offers {
	if peer == nil {
		return offers{unknown: true}
	}
	var caps struct {
		Tools     jsontext.Value `json:"tools"`
		Resources jsontext.Value `json:"resources"`
		Prompts   jsontext.Value `json:"prompts"`
		Logging   jsontext.Value `json:"logging"`
	}
	// a value that is not an object offers nothing
	_ = json.Unmarshal(peer.Capabilities(), &caps, lenient())
	return offers{
		tools: declared(caps.Tools), toolsChanged: changes(caps.Tools),
		resources: declared(caps.Resources), resourcesChanged: changes(caps.Resources),
		prompts: declared(caps.Prompts), promptsChanged: changes(caps.Prompts),
		logging: declared(caps.Logging) && peer.Era == era.Legacy,
	}
}

func declared(v jsontext.Value) bool { return v != nil && v.Kind() != 'n' && v.Kind() != 'f' }

func changes(v jsontext.Value) bool {
	var said struct {
		ListChanged jsontext.Value `json:"listChanged"`
	}
	return json.Unmarshal(v, &said, lenient()) == nil && said.ListChanged.Kind() == 't'
}

// list reports whether the server has such a list. A server that declares nothing is asked.
func (o offers) list(l catalog.List) bool {
	switch l {
	case catalog.Tools:
		return o.tools || o.unknown
	case catalog.Prompts:
		return o.prompts || o.unknown
	default:
		return o.resources || o.unknown
	}
}

// announced reports whether the server declares that it announces changes of a list.
func (o offers) announced(l catalog.List) bool {
	switch l {
	case catalog.Tools:
		return o.toolsChanged
	case catalog.Prompts:
		return o.promptsChanged
	default:
		return o.resourcesChanged
	}
}
