package document

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"
)

// onlyEntry reports that two documents say the same but for one entry. Offsets are not asked: a line that is put behind
// another may change what that one means, such as a block of text at the end of a YAML document.
func onlyEntry(f Format, before, after []byte, at Place) bool {
	a, b, ok := groups(f, before, after, at.Group)
	return ok && onlyMember(a, b, at.Name)
}

// groups are a group as two documents have it; not ok where they cannot be read, or differ elsewhere too.
func groups(f Format, before, after []byte, name string) (a, b any, ok bool) {
	first, err := meaning(f, before)
	if err != nil {
		return nil, nil, false
	}
	second, err := meaning(f, after)
	if err != nil {
		return nil, nil, false
	}
	a, b = first[name], second[name]
	delete(first, name)
	delete(second, name)
	return a, b, reflect.DeepEqual(first, second)
}

func onlyMember(a, b any, name string) bool {
	ma, aByName := a.(map[string]any)
	mb, bByName := b.(map[string]any)
	if aByName || bByName {
		ma, mb = maps.Clone(ma), maps.Clone(mb)
		delete(ma, name)
		delete(mb, name)
		return len(ma) == 0 && len(mb) == 0 || reflect.DeepEqual(ma, mb)
	}
	short, long := items(a), items(b)
	if len(short) > len(long) {
		short, long = long, short
	}
	if len(long) != len(short)+1 {
		return false
	}
	i := 0
	for _, item := range long {
		if i < len(short) && reflect.DeepEqual(short[i], item) {
			i++
		}
	}
	return i == len(short)
}

func items(group any) []any {
	v := reflect.ValueOf(group)
	if v.Kind() != reflect.Slice {
		return nil
	}
	out := make([]any, v.Len())
	for i := range out {
		out[i] = v.Index(i).Interface()
	}
	return out
}

// meaning reads a document without regard to how it is written. It is compared and thrown away: nothing is ever written from it.
func meaning(f Format, data []byte) (map[string]any, error) {
	out := map[string]any{}
	if len(bytes.TrimSpace(data)) == 0 {
		return out, nil
	}
	var err error
	switch f {
	case JSON:
		read := json.NewDecoder(bytes.NewReader(PlainJSON(data)))
		read.UseNumber() // two numbers that differ in their last digit are not the same
		err = read.Decode(&out)
	case TOML:
		err = toml.Unmarshal(data, &out)
	default:
		err = yaml.Unmarshal(data, &out)
	}
	return out, err
}
