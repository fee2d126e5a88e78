package tasks

import (
	"bytes"
	"context"
	"strings"

	"secateur/internal/rawjson"
)

// Names reports whether requests of a method name tasks.
func Names(method string) bool { return strings.HasPrefix(method, "tasks/") }

// MayAsk reports whether a request comes from the owner of the task that it names, if any.
func (o *Owners) MayAsk(ctx context.Context, server string, params []byte, c Caller) (id string, ok bool) {
	id, named := rawjson.Text(rawjson.Get(params, "taskId"))
	return id, !named || o.Allows(ctx, Key{server, id}, c)
}

// Tells reports whether an answer contains "taskId" and thus may describe tasks. Most do not. It
// searches for the rarest part: quotes are frequent in JSON, so a search for one compares at almost
// every byte.
func Tells(answer []byte) bool {
	const before, after = `"task`, `Id"`
	for {
		i := bytes.Index(answer, []byte(after))
		if i < 0 {
			return false
		}
		if bytes.HasSuffix(answer[:i], []byte(before)) {
			return true
		}
		answer = answer[i+len(after)-1:] // its quote may begin the next match
	}
}

// Result records the owner of the task in a call's result. In a list it removes the tasks of others
// and returns a new slice. own converts an id into the server's own key.
func (o *Owners) Result(ctx context.Context, method string, result []byte, c Caller, own func(id string) Key) []byte {
	switch {
	case method == "tasks/list":
		return o.withoutOthers(ctx, result, c, own)
	case Names(method):
		return result
	}
	for _, raw := range [][]byte{rawjson.Get(result, "taskId"), rawjson.Get(rawjson.Get(result, "task"), "taskId")} {
		if id, ok := rawjson.Text(raw); ok {
			o.Note(ctx, own(id), c)
		}
	}
	return result
}

// withoutOthers returns a list of tasks without those of other owners.
func (o *Owners) withoutOthers(ctx context.Context, result []byte, c Caller, own func(id string) Key) []byte {
	list := rawjson.Get(result, "tasks")
	if len(list) == 0 || list[0] != '[' {
		return result
	}
	kept, foreign := []byte{'['}, false
	cursor := rawjson.NewCursor(list)
	for cursor.Enter(); !cursor.Done(); {
		item := cursor.Raw()
		if id, ok := rawjson.Text(rawjson.Get(item, "taskId")); ok && !o.Allows(ctx, own(id), c) {
			foreign = true
			continue
		}
		if len(kept) > 1 {
			kept = append(kept, ',')
		}
		kept = append(kept, item...)
	}
	if !foreign {
		return result
	}
	return rawjson.Set(result, "tasks", append(kept, ']'))
}
