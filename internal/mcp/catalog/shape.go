package catalog

import (
	"maps"

	"secateur/internal/mcp/era"
)

// A shape says where in a value the URIs of resources and the ids of tasks stand.
// What a shape does not name is passed over.
type shape struct {
	uri   bool // a string here is a URI
	ui    bool // a string here is a URI if it starts with ui://
	task  bool // a string here is the id of a task
	block bool // an object here is a content block, which see
	call  bool // an object here is a tool's result, which may be a task instead; its members are there too

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

	// taskID is what a client asks for a task by.
	taskID   = &shape{task: true}
	withTask = object("taskId", taskID)

	// related is what a legacy server says of all that belongs to a task.
	related = object(era.MetaRelatedTask, withTask)
	relates = object("_meta", related)

	// inputRequests stand in a result that asks the client for something first.
	inputRequests = &shape{every: object("params", joined(messages, relates))}

	toolResult = &shape{call: true, members: object(
		"content", blocks, "_meta", joined(toolMeta, related), "inputRequests", inputRequests,
		"taskId", taskID, "task", withTask,
	).members}

	// task is what there is to know about one. Early servers put its id a level
	// deeper.
	task = joined(relates, withTask, object("task", withTask, "result", toolResult, "inputRequests", inputRequests))
)

// resultShapes are those of what servers answer, by the method asked for; relates
// for any other.
var resultShapes = map[string]*shape{
	"tools/call":               toolResult,
	"prompts/get":              joined(relates, messages, object("inputRequests", inputRequests)),
	"resources/read":           joined(relates, object("contents", array(withURI), "inputRequests", inputRequests)),
	"resources/list":           object("resources", array(withURI)),
	"resources/templates/list": object("resourceTemplates", array(object("uriTemplate", uriShape))),
	"tools/list":               object("tools", array(toolItem)),
	"tasks/result":             toolResult,
	"tasks/get":                task,
	"tasks/update":             task,
	"tasks/cancel":             task,
	"tasks/list":               object("tasks", array(withTask)),
}

// paramsShapes are those of what servers send of their own accord, by method;
// relates for any other. The tasks that servers ask for are the client's.
var paramsShapes = map[string]*shape{
	"notifications/resources/updated": joined(relates, withURI),
	"notifications/subscriptions/acknowledged": object("notifications",
		object("resourceSubscriptions", array(uriShape), "taskIds", array(taskID))),
	"notifications/tasks":        task,
	"notifications/tasks/status": task,
	"sampling/createMessage":     joined(relates, messages),
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

// joined makes the shape of an object that has the members of all of them.
func joined(objects ...*shape) *shape {
	s := &shape{members: map[string]*shape{}}
	for _, o := range objects {
		maps.Copy(s.members, o.members)
	}
	return s
}

func array(each *shape) *shape { return &shape{each: each} }
