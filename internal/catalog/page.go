package catalog

import "secateur/internal/rawjson"

// A Page is a part of a list, for a client.
type Page struct {
	List  List
	Items []byte // with commas between them; must not be changed
	Count int
	Next  string // cursor of the next page, "" on the last one
}

// Page returns the part of a list that a client asks for, of at most size items,
// or all of them if size is not positive. The error is a *ParamsError.
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

// AppendResult appends the result of the list's method. More are further members
// as JSON, without braces: `"ttlMs":0`; "" for none.
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
