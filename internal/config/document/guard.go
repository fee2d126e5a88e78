package document

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"
)

// onlyEntry reports whether two documents differ only in one entry. It compares meanings, not
// offsets: an added line may change the meaning of the one before, as at the end of a YAML block
// text.
func onlyEntry(f Format, before, after []byte, at Place) bool {
	a, b, ok := groups(f, before, after, at.Group)
	return ok && onlyMember(a, b, at.Name)
}

// groups returns a group in both documents. ok is false if they cannot be read or differ elsewhere.
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

// meaning reads a document regardless of its layout. The result is only compared; nothing is
// written from it.
func meaning(f Format, data []byte) (map[string]any, error) {
	out := map[string]any{}
	if len(bytes.TrimSpace(data)) == 0 {
		return out, nil
	}
	var err error
	switch f {
	case JSON:
		read := json.NewDecoder(bytes.NewReader(PlainJSON(data)))
		read.UseNumber() // numbers that differ in their last digit are different
		err = read.Decode(&out)
	case TOML:
		err = toml.Unmarshal(data, &out)
	default:
		err = yaml.Unmarshal(data, &out)
	}
	return out, err
}
