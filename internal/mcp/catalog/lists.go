package catalog

import (
	"fmt"
	"strconv"

	"secateur/internal/rawjson"
)

// List is one of the four lists that servers have.
type List int

// The lists.
const (
	Tools List = iota
	Resources
	Templates
	Prompts

	listCount
)

// Lists returns all of them.
func Lists() [listCount]List { return [...]List{Tools, Resources, Templates, Prompts} }

// ListOf returns the list that a method asks for.
func ListOf(method string) (List, bool) {
	for l := range listCount {
		if l.Method() == method {
			return l, true
		}
	}
	return 0, false
}

// listWords are, for each list: what an item is, the method, the result's member,
// the item's member that identifies it.
var listWords = [listCount]struct{ item, method, member, key string }{
	Tools:     {"tool", "tools/list", "tools", "name"},
	Resources: {"resource", "resources/list", "resources", "uri"},
	Templates: {"resource template", "resources/templates/list", "resourceTemplates", "uriTemplate"},
	Prompts:   {"prompt", "prompts/list", "prompts", "name"},
}

// String returns what an item of the list is.
func (l List) String() string { return listWords[l].item }

// Method returns the method that asks for the list.
func (l List) Method() string { return listWords[l].method }

// Member returns the name of the array in the method's result.
func (l List) Member() string { return listWords[l].member }

// ServerPage is one page of a list as a server gave it.
type ServerPage struct {
	Items [][]byte // slices of the result

	Next string // the cursor of the next page
	More bool   // there is one; its cursor may be empty

	TTLMillis int64  // how long the list may be kept; -1 where the server does not say
	Scope     string // for whom it may be kept: public or private; "" where the server does not say
}

// ReadPage takes the result of a list method apart. The result must be
// well-formed; it is an error if it has no such list.
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
