package catalog

// A shape says where in a value the URIs of resources stand. What a shape does not
// name is passed over.
type shape struct {
	uri   bool // a string here is a URI
	ui    bool // a string here is a URI if it starts with ui://
	block bool // an object here is a content block, which see

	members map[string]*shape // of an object, by name
	every   *shape            // member of an object, whatever its name
	each    *shape            // element of an array
}

var (
	uriShape = &shape{uri: true}

	// withURI is what a resource is: in a list, read, embedded, or updated.
	withURI = object("uri", uriShape)

	// blocks are one content block or an array of them: a message has the one or the
	// other, depending on the revision.
	blocks = func() *shape {
		s := &shape{block: true}
		s.each = s
		return s
	}()

	messages = object("messages", array(object("content", blocks)))

	// toolMeta is where MCP Apps name the resource that shows a tool's result: today,
	// in earlier drafts, and in ChatGPT.
	toolMeta = object(
		"ui", object("resourceUri", &shape{ui: true}),
		"ui/resourceUri", &shape{ui: true},
		"openai/outputTemplate", &shape{ui: true},
	)
	toolItem = object("_meta", toolMeta)

	// inputRequests stand in a result that asks the client for something first.
	inputRequests = &shape{every: object("params", messages)}

	toolResult = object("content", blocks, "_meta", toolMeta, "inputRequests", inputRequests)
	task       = object("result", toolResult, "inputRequests", inputRequests)
)

// resultShapes are those of what servers answer, by the method asked for.
var resultShapes = map[string]*shape{
	"tools/call":               toolResult,
	"prompts/get":              object("messages", array(object("content", blocks)), "inputRequests", inputRequests),
	"resources/read":           object("contents", array(withURI), "inputRequests", inputRequests),
	"resources/list":           object("resources", array(withURI)),
	"resources/templates/list": object("resourceTemplates", array(object("uriTemplate", uriShape))),
	"tools/list":               object("tools", array(toolItem)),
	"tasks/result":             toolResult,
	"tasks/get":                task,
	"tasks/update":             task,
}

// paramsShapes are those of what servers send of their own accord, by method.
var paramsShapes = map[string]*shape{
	"notifications/resources/updated": withURI,
	"notifications/subscriptions/acknowledged": object("notifications",
		object("resourceSubscriptions", array(uriShape))),
	"notifications/tasks":    task,
	"sampling/createMessage": messages,
}

// errorShape is that of an error's data: which resource was not found.
var errorShape = withURI

// object makes the shape of an object out of names and shapes, in turn.
func object(namesAndShapes ...any) *shape {
	s := &shape{members: map[string]*shape{}}
	for i := 0; i < len(namesAndShapes); i += 2 {
		s.members[namesAndShapes[i].(string)] = namesAndShapes[i+1].(*shape)
	}
	return s
}

func array(each *shape) *shape { return &shape{each: each} }
