package document

import (
	"bytes"

	"github.com/pelletier/go-toml/v2/unstable"
)

// SetFlag sets a boolean key of an entry; a missing key means false. Everything else in the entry
// stays, including comments. In TOML, false removes the key's line, unless the line has more.
func SetFlag(f Format, data []byte, at Place, name string, on bool) ([]byte, error) {
	return rewrite(f, data, at, onlyReplaced, map[Format]editor{
		JSON: func(body []byte) ([]edit, error) { return setFlagJSON(body, at, name, on) },
		TOML: func(body []byte) ([]edit, error) { return setFlagTOML(body, at, name, on) },
	})
}

func setFlagJSON(data []byte, at Place, name string, on bool) ([]edit, error) {
	group, i, err := locateJSON(data, at)
	if err != nil {
		return nil, err
	}
	root, err := parseJSON(data)
	if err != nil {
		return nil, err
	}
	entry := group.elements[i].value
	if m, ok := entry.member(name); ok {
		return []edit{{m.value.start, m.value.end, scalar(on)}}, nil
	}
	if !on {
		return nil, nil
	}
	s := styleOf(data, root)
	return s.appendTo(data, entry, func(indent string) string { return s.member(name, on, indent) }), nil
}

func setFlagTOML(data []byte, at Place, name string, on bool) ([]edit, error) {
	blocks := entryBlocks(tomlBlocks(data), at)
	if len(blocks) == 0 {
		return nil, missingTOML(data, at)
	}
	entry := blocks[0]
	if from, to, ok := flagTOML(data, entry, name); ok {
		start, end := lineStart(data, from), lineEnd(data, to)
		if !on && len(bytes.TrimSpace(data[to:end])) == 0 {
			return []edit{{start, end, ""}}, nil
		}
		return []edit{{from, to, scalar(on)}}, nil
	}
	if !on {
		return nil, nil
	}
	nl, before := newline(data), ""
	if entry.end > 0 && data[entry.end-1] != '\n' {
		before, nl = nl, ""
	}
	return []edit{{entry.end, entry.end, before + indentAt(data, entry.start) + tomlKey(name) + " = " + scalar(on) + nl}}, nil
}

// flagTOML finds the value of a flag in a block.
func flagTOML(data []byte, in tomlBlock, name string) (from, to int, ok bool) {
	p := unstable.Parser{}
	p.Reset(data)
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind != unstable.KeyValue || e.Value().Kind != unstable.Bool {
			continue
		}
		key := e.Key()
		if !key.Next() || string(key.Node().Data) != name || key.Next() {
			continue
		}
		at := p.Range(e.Value().Data)
		if from = int(at.Offset); from >= in.start && from < in.end {
			return from, from + int(at.Length), true
		}
	}
	return 0, 0, false
}
