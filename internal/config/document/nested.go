package document

import (
	"errors"
	"maps"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// JSON documents of settings have lists and values deeper than one group: {"hooks": {"PostToolUse": [ … ]}}.

// AppendItem puts an entry at the end of the list at a path of names in a JSON document. What is missing on the way is made.
func AppendItem(data []byte, path []string, fields []Field) ([]byte, error) {
	return rewriteJSON(data, path, func(body []byte, s jsonStyle, root jsonValue) ([]edit, error) {
		list, found, missing := walk(root, path)
		switch {
		case len(missing) > 0 && found.kind == jsontext.KindBeginObject:
			return s.appendTo(body, found, func(indent string) string { return s.member(missing[0], nest(missing[1:], []any{fields}), indent) }), nil
		case len(missing) > 0 || list.kind != jsontext.KindBeginArray:
			return nil, ErrInline
		}
		return s.appendTo(body, list, func(indent string) string { return s.render(fields, indent) }), nil
	})
}

// RemoveItems takes out the items of the list at a path that is says are ours. The list stays, if need be empty.
func RemoveItems(data []byte, path []string, is func(item []byte) bool) ([]byte, error) {
	for {
		body, _ := cutMark(data)
		root, err := parseJSON(body)
		if err != nil {
			return data, nil //nolint:nilerr // it holds none of ours
		}
		list, _, missing := walk(root, path)
		if len(missing) > 0 || list.kind != jsontext.KindBeginArray {
			return data, nil
		}
		i := slices.IndexFunc(list.elements, func(e jsonElement) bool { return is(body[e.value.start:e.value.end]) })
		if i < 0 {
			return data, nil
		}
		data, err = rewriteJSON(data, path, func(body []byte, _ jsonStyle, _ jsonValue) ([]edit, error) { return removeElement(body, list, i), nil })
		if err != nil {
			return nil, err
		}
	}
}

// SetText writes a text as the value at a path, in the place of another or anew.
func SetText(data []byte, path []string, text string) ([]byte, error) {
	return rewriteJSON(data, path, func(body []byte, s jsonStyle, root jsonValue) ([]edit, error) {
		value, found, missing := walk(root, path)
		if len(missing) == 0 {
			return []edit{{value.start, value.end, quote(text)}}, nil
		}
		if found.kind != jsontext.KindBeginObject {
			return nil, ErrInline
		}
		return s.appendTo(body, found, func(indent string) string { return s.member(missing[0], nest(missing[1:], text), indent) }), nil
	})
}

// RemoveMember takes the value at a path out, with its name. It is no failure that there is none.
func RemoveMember(data []byte, path []string) ([]byte, error) {
	body, _ := cutMark(data)
	root, err := parseJSON(body)
	if err != nil {
		return data, nil //nolint:nilerr // it holds no such value
	}
	holder, _, missing := walk(root, path[:len(path)-1])
	i := slices.IndexFunc(holder.elements, func(e jsonElement) bool { return e.name == path[len(path)-1] })
	if len(missing) > 0 || holder.kind != jsontext.KindBeginObject || i < 0 {
		return data, nil
	}
	return rewriteJSON(data, path, func(body []byte, _ jsonStyle, _ jsonValue) ([]edit, error) {
		return removeElement(body, holder, i), nil
	})
}

// At gives the bytes of the value at a path of a JSON document.
func At(data []byte, path []string) ([]byte, bool) {
	body, _ := cutMark(data)
	root, err := parseJSON(body)
	if err != nil {
		return nil, false
	}
	v, _, missing := walk(root, path)
	if len(missing) > 0 {
		return nil, false
	}
	return body[v.start:v.end], true
}

// walk goes along a path as far as it is there: to the value at its end, or to the last one there is, with the names that are missing.
func walk(root jsonValue, path []string) (at, last jsonValue, missing []string) {
	at = root
	for i, name := range path {
		m, ok := at.member(name)
		if !ok {
			return jsonValue{}, at, path[i:]
		}
		at = m.value
	}
	return at, at, nil
}

// nest puts a value into objects of one member each.
func nest(path []string, value any) any {
	for _, name := range slices.Backward(path) {
		value = []Field{{name, value}}
	}
	return value
}

// rewriteJSON applies the edits of a change, if the document says the same afterwards but for what stands at the path.
func rewriteJSON(data []byte, path []string, find func(body []byte, s jsonStyle, root jsonValue) ([]edit, error)) ([]byte, error) {
	body, bom := cutMark(data)
	if err := check(JSON, body); err != nil {
		return nil, err
	}
	if len(slices.DeleteFunc(slices.Clone(body), func(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' })) == 0 {
		body = []byte("{" + newline(body) + "}" + newline(body))
	}
	root, err := parseJSON(body)
	if err != nil {
		return nil, err
	}
	edits, err := find(body, styleOf(body, root), root)
	if err != nil {
		return nil, err
	}
	out := apply(body, edits)
	before, err1 := meaning(JSON, body)
	after, err2 := meaning(JSON, out)
	if errors.Join(err1, err2) != nil || check(JSON, out) != nil || !reflect.DeepEqual(without(before, path), without(after, path)) {
		return nil, ErrInline
	}
	return slices.Concat(bom, out), nil
}

// without is a document less what stands at a path, and less objects on the way that are empty then.
func without(doc map[string]any, path []string) map[string]any {
	doc = maps.Clone(doc)
	if len(path) == 1 {
		delete(doc, path[0])
		return doc
	}
	if inner, ok := doc[path[0]].(map[string]any); ok {
		if inner = without(inner, path[1:]); len(inner) == 0 {
			delete(doc, path[0])
		} else {
			doc[path[0]] = inner
		}
	}
	return doc
}
