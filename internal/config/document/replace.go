package document

import (
	"maps"
	"reflect"
	"strings"
)

// Replace rewrites an entry in place. Text around it stays, comments within it are lost.
func Replace(f Format, data []byte, at Place, fields []Field) ([]byte, error) {
	return rewrite(f, data, at, onlyReplaced, map[Format]editor{
		JSON: func(body []byte) ([]edit, error) { return replaceJSON(body, at, fields) },
		TOML: func(body []byte) ([]edit, error) { return replaceTOML(body, at, fields) },
	})
}

func replaceJSON(data []byte, at Place, fields []Field) ([]edit, error) {
	group, i, err := locateJSON(data, at)
	if err != nil {
		return nil, err
	}
	root, err := parseJSON(data)
	if err != nil {
		return nil, err
	}
	v := group.elements[i].value
	return []edit{{v.start, v.end, styleOf(data, root).render(fields, indentAt(data, group.elements[i].start))}}, nil
}

// replaceTOML writes the entry in place of its first block and removes its other blocks, which are
// its tables.
func replaceTOML(data []byte, at Place, fields []Field) ([]edit, error) {
	blocks := entryBlocks(tomlBlocks(data), at)
	if len(blocks) == 0 {
		return nil, missingTOML(data, at)
	}
	nl := newline(data)
	var text strings.Builder
	if at.Name == "" {
		text.WriteString("[[" + tomlKey(at.Group) + "]]" + nl)
	} else {
		text.WriteString("[" + tomlKey(at.Group) + "." + tomlKey(at.Name) + "]" + nl)
	}
	for _, f := range fields {
		text.WriteString(tomlKey(f.Name) + " = " + tomlValue(f.Value) + nl)
	}
	edits := []edit{{blocks[0].start, blocks[0].end, text.String()}}
	for _, b := range blocks[1:] {
		edits = append(edits, edit{b.start, b.end, ""})
	}
	return edits, nil
}

// onlyReplaced reports whether two documents differ only in the contents of one entry.
func onlyReplaced(f Format, before, after []byte, at Place) bool {
	ga, gb, ok := groups(f, before, after, at.Group)
	if !ok {
		return false
	}
	if at.Name != "" {
		ma, aByName := ga.(map[string]any)
		mb, bByName := gb.(map[string]any)
		_, was := ma[at.Name]
		_, is := mb[at.Name]
		ma, mb = maps.Clone(ma), maps.Clone(mb)
		delete(ma, at.Name)
		delete(mb, at.Name)
		return aByName && bByName && was && is && reflect.DeepEqual(ma, mb)
	}
	ia, ib := items(ga), items(gb)
	if len(ia) != len(ib) || at.Index >= len(ia) {
		return false
	}
	ia[at.Index], ib[at.Index] = nil, nil
	return reflect.DeepEqual(ia, ib)
}
