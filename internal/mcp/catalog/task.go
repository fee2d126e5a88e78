package catalog

import (
	"bytes"
	"strings"

	"secateur/internal/rawjson"
)

// WrapTask returns the clients' id for a server's task.
func WrapTask(server, task string) string { return server + ContractSeparator + task }

// UnwrapTask reverses WrapTask. It only parses the text and does not check whether the server
// exists.
func UnwrapTask(id string) (server, task string, ok bool) {
	server, task, ok = strings.Cut(id, ContractSeparator)
	return server, task, ok && server != ""
}

// UnwrapRelated rewrites the related task in a client's params or result to the server's own id. It
// returns the same slice if no task of that server is named.
func UnwrapRelated(server string, doc []byte) []byte {
	if !bytes.Contains(doc, []byte("/related-task")) && bytes.IndexByte(doc, '\\') < 0 {
		return doc // the usual case: it is not even named
	}
	return rawjson.Edited(doc, rewrite(doc, relates, names{task: func(id string) string {
		if of, task, ok := UnwrapTask(id); ok && of == server {
			return task
		}
		return id
	}}))
}
