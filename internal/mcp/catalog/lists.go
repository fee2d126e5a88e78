package catalog

import (
	"fmt"
	"strconv"

	"secateur/internal/rawjson"
)

// List is one of the four lists of a server.
type List int

// The four lists.
const (
	Tools List = iota
	Resources
	Templates
	Prompts

	listCount
)

// Lists returns all four lists.
func Lists() [listCount]List { return [...]List{Tools, Resources, Templates, Prompts} }

// ListOf returns the list that a method requests.
func ListOf(method string) (List, bool) {
	for l := range listCount {
		if l.Method() == method {
			return l, true
		}
	}
	return 0, false
}

// listWords holds for each list: the word for an item, the method, the result's member, and the
// member that identifies an item.
var listWords = [listCount]struct{ item, method, member, key string }{
	Tools:     {"tool", "tools/list", "tools", "name"},
	Resources: {"resource", "resources/list", "resources", "uri"},
	Templates: {"resource template", "resources/templates/list", "resourceTemplates", "uriTemplate"},
	Prompts:   {"prompt", "prompts/list", "prompts", "name"},
}

// String returns the word for an item of the list.
func (l List) String() string { return listWords[l].item }

// Method returns the method that requests the list.
func (l List) Method() string { return listWords[l].method }

// Member returns the name of the array in the method's result.
func (l List) Member() string { return listWords[l].member }

// ServerPage is one page of a list as a server sent it.
type ServerPage struct {
	Items [][]byte // slices of the result

	Next string // cursor of the next page
	More bool   // a next page exists; its cursor may be empty

	TTLMillis int64  // how long the list may be cached; -1: not given
	Scope     string // who may cache it, public or private; "": not given
}

// ReadPage parses the result of a list method. The result must be well-formed. It is an error if
// the list is missing.
func ReadPage(l List, result []byte) (ServerPage, error) {
	page := ServerPage{TTLMillis: -1}
	found := false
	c := rawjson.NewCursor(result)
	if c.Peek() != '{' {
		return page, fmt.Errorf("%s: the result is not an object", l.Method())
	}
	for c.Enter(); !c.Done(); {
		switch string(c.Name()) {
		case l.Member():
			if c.Peek() != '[' {
				return page, fmt.Errorf("%s: %s is not an array", l.Method(), l.Member())
			}
			found = true
			for c.Enter(); !c.Done(); {
				page.Items = append(page.Items, c.Raw())
			}
		case "nextCursor":
			page.Next, page.More = rawjson.Text(c.Raw())
		case "ttlMs":
			if n, err := strconv.ParseInt(string(c.Raw()), 10, 64); err == nil && n >= 0 {
				page.TTLMillis = n
			}
		case "cacheScope":
			page.Scope, _ = rawjson.Text(c.Raw())
		default:
			c.Value()
		}
	}
	if !found {
		return page, fmt.Errorf("%s: the result has no %s", l.Method(), l.Member())
	}
	return page, nil
}
