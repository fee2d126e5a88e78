package catalog

import (
	"maps"

	"secateur/internal/mcp/era"
)

// A shape says where a value contains resource URIs and task ids. Members without a shape are
// skipped.
type shape struct {
	uri   bool // a string here is a URI
	ui    bool // a string here is a URI if it starts with ui://
	task  bool // a string here is a task id
	block bool // an object here is a content block; see block
	call  bool // an object here is a tool's result or a task; members applies too

	members map[string]*shape // members of an object, by name
	every   *shape            // shape of every member of an object
	each    *shape            // shape of each element of an array
}

var (
	uriShape = &shape{uri: true}

	// withURI is a resource: listed, read, embedded, or updated.
	withURI = object("uri", uriShape)

	// blocks is one content block or an array of them, depending on the revision.
	blocks = func() *shape {
		s := &shape{block: true}
		s.each = s
		return s
	}()

	messages = object("messages", array(object("content", blocks)))

	// toolMeta is where MCP Apps name the resource that shows a tool's result: currently, in
	// earlier drafts, and in ChatGPT.
	toolMeta = object(
		"ui", object("resourceUri", &shape{ui: true}),
		"ui/resourceUri", &shape{ui: true},
		"openai/outputTemplate", &shape{ui: true},
	)
	toolItem = object("_meta", toolMeta)

	// taskID is the id by which a client refers to a task.
	taskID   = &shape{task: true}
	withTask = object("taskId", taskID)

	// related is the reference of a legacy server's message to its task.
	related = object(era.MetaRelatedTask, withTask)
	relates = object("_meta", related)

	// inputRequests are part of a result that asks the client for input first.
	inputRequests = &shape{every: object("params", joined(messages, relates))}

	toolResult = &shape{call: true, members: object(
		"content", blocks, "_meta", joined(toolMeta, related), "inputRequests", inputRequests,
		"taskId", taskID, "task", withTask,
	).members}

	// task describes a task. Early servers put its id one level deeper.
	task = joined(relates, withTask, object("task", withTask, "result", toolResult, "inputRequests", inputRequests))
)

// resultShapes are the shapes of servers' results, by method; relates for any other.
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

// paramsShapes are the shapes of servers' requests and notifications, by method; relates for any
// other. The tasks that servers ask about are the client's.
var paramsShapes = map[string]*shape{
	"notifications/resources/updated": joined(relates, withURI),
	"notifications/subscriptions/acknowledged": object("notifications",
		object("resourceSubscriptions", array(uriShape), "taskIds", array(taskID))),
	"notifications/tasks":        task,
	"notifications/tasks/status": task,
	"sampling/createMessage":     joined(relates, messages),
}

// errorShape is the shape of an error's data, which names the resource that was not found.
var errorShape = withURI

// object builds the shape of an object from alternating names and shapes.
func object(namesAndShapes ...any) *shape {
	s := &shape{members: map[string]*shape{}}
	for i := 0; i < len(namesAndShapes); i += 2 {
		s.members[namesAndShapes[i].(string)] = namesAndShapes[i+1].(*shape)
	}
	return s
}

// joined builds the shape of an object with the members of all given objects.
func joined(objects ...*shape) *shape {
	s := &shape{members: map[string]*shape{}}
	for _, o := range objects {
		maps.Copy(s.members, o.members)
	}
	return s
}

func array(each *shape) *shape { return &shape{each: each} }
