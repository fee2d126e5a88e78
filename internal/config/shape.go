package config

import (
	"reflect"
	"slices"
)

// shape lists the keys of a struct.
type shape struct {
	names []string // in alphabetical order
	index map[string][]int
}

// shapeOf reads the toml tags of a struct type. The keys of an embedded struct belong to the outer
// one.
func shapeOf(t reflect.Type) *shape {
	s := &shape{index: map[string][]int{}}
	for _, f := range reflect.VisibleFields(t) {
		if name := f.Tag.Get("toml"); name != "" && name != "-" {
			s.names = append(s.names, name)
			s.index[name] = f.Index
		}
	}
	slices.Sort(s.names)
	return s
}

// field returns the field of v for a key.
func (s *shape) field(v reflect.Value, name string) (reflect.Value, bool) {
	index, ok := s.index[name]
	if !ok {
		return reflect.Value{}, false
	}
	return v.FieldByIndex(index), true
}

// shape is shapeOf with a cache.
func (d *decoder) shape(t reflect.Type) *shape {
	s, ok := d.shapes[t]
	if !ok {
		s = shapeOf(t)
		d.shapes[t] = s
	}
	return s
}
