package catalog

import (
	"slices"

	"secateur/internal/rawjson"
)

// A Page is a part of a list for a client.
type Page struct {
	List  List
	Items []byte // separated by commas; must not be modified
	Count int
	Next  string // cursor of the next page; "": last page
}

// Page returns the requested part of a list, with at most size items; all if size is not positive.
// The error is a *ParamsError.
func (v *View) Page(l List, ask Ask, size int) (Page, error) {
	length, generation := v.Len(l), v.Generation(l)
	from := 0
	if ask.HasCursor {
		var err error
		if from, err = readCursor(ask.Cursor, generation, length); err != nil {
			return Page{}, err
		}
	}
	to := length
	for _, most := range [...]int{size, ask.Limit} {
		if most > 0 {
			to = min(to, from+min(most, length))
		}
	}
	p := Page{List: l, Items: v.rendered(l).slice(from, to), Count: to - from}
	if to < length {
		p.Next = cursor(to, generation)
	}
	return p, nil
}

// AppendResult appends the result of the list's method. more holds further members as JSON, without
// braces: `"ttlMs":0`; "": none.
func (p Page) AppendResult(dst []byte, more string) []byte {
	o := rawjson.Object(append(dst, '{'))
	o.Name(p.List.Member())
	o = append(append(append(o, '['), p.Items...), ']')
	if p.Next != "" {
		o.Text("nextCursor", p.Next)
	}
	if more != "" {
		o = append(append(o, ','), more...)
	}
	return append(o, '}')
}

// PageOf is Page without the items that keep rejects, by server and the server's own name or URI.
// It may return fewer items than requested.
func (v *View) PageOf(l List, ask Ask, size int, keep func(server, original string) bool) (Page, error) {
	p, err := v.Page(l, ask, size)
	if err != nil {
		return p, err
	}
	from := 0
	if ask.HasCursor {
		if from, err = readCursor(ask.Cursor, v.Generation(l), v.Len(l)); err != nil {
			return p, err
		}
	}
	all, entries := v.rendered(l), v.lists[l].entries
	items, count := make([]byte, 0, len(p.Items)), 0
	for i := from; i < from+p.Count; i++ {
		if e := entries[i]; !keep(v.servers[e.server], e.name) {
			continue
		}
		if count > 0 {
			items = append(items, ',')
		}
		items = append(items, all.slice(i, i+1)...)
		count++
	}
	p.Items, p.Count = items, count
	return p, nil
}

// Filter returns one server's list result without the items that keep rejects, by the server's own
// name or URI. The result must be well-formed. A result that is not a list is returned unchanged.
func Filter(l List, result []byte, keep func(original string) bool) []byte {
	return filter(l, result, func(item []byte) bool { return keep(rawjson.GetText(item, listWords[l].key)) })
}

// FilterTools returns one server's tools/list result without the tools that must not be offered
// and, if the client cannot call tasks, without those that need one. Mostly that is the result.
func FilterTools(result []byte, callsTasks bool) []byte {
	isWanted := func(item []byte) bool { return toolProblem(item) == "" && (callsTasks || !needsTask(item)) }
	page, err := ReadPage(Tools, result)
	if err != nil || !slices.ContainsFunc(page.Items, func(item []byte) bool { return !isWanted(item) }) {
		return result
	}
	return filter(Tools, result, isWanted)
}

func filter(l List, result []byte, keep func(item []byte) bool) []byte {
	page, err := ReadPage(l, result)
	if err != nil {
		return result
	}
	items := []byte{'['}
	for _, item := range page.Items {
		if !keep(item) {
			continue
		}
		if len(items) > 1 {
			items = append(items, ',')
		}
		items = append(items, item...)
	}
	return rawjson.Set(result, l.Member(), append(items, ']'))
}
