package catalog

import (
	"bytes"
	"strings"

	"secateur/internal/rawjson"
)

// WrapTask returns what a client calls a server's task.
func WrapTask(server, task string) string { return server + ContractSeparator + task }

// UnwrapTask is the way back from WrapTask. It only looks at the text: whether there
// is such a server it cannot know.
func UnwrapTask(id string) (server, task string, ok bool) {
	server, task, ok = strings.Cut(id, ContractSeparator)
	return server, task, ok && server != ""
}

// UnwrapRelated returns what a client sends to a server, params or a result, with the
// task that it says to be related to as the server calls it; the same slice where it
// says none of that server's.
func UnwrapRelated(server string, doc []byte) []byte {
	if !bytes.Contains(doc, []byte("/related-task")) && bytes.IndexByte(doc, '\\') < 0 {
		return doc // most: it is not even named
	}
	return rawjson.Edited(doc, rewrite(doc, relates, names{task: func(id string) string {
		if of, task, ok := UnwrapTask(id); ok && of == server {
			return task
		}
		return id
	}}))
}
