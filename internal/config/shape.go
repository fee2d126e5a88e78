package config

import (
	"reflect"
	"slices"
)

// shape is which keys a struct has.
type shape struct {
	names []string // in alphabetical order
	index map[string][]int
}

// shapeOf reads the toml tags of a struct type; the keys of an embedded struct are the outer one's.
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

// field is the field of v that a key means.
func (s *shape) field(v reflect.Value, name string) (reflect.Value, bool) {
	index, ok := s.index[name]
	if !ok {
		return reflect.Value{}, false
	}
	return v.FieldByIndex(index), true
}

// shape is shapeOf, remembered.
func (d *decoder) shape(t reflect.Type) *shape {
	s, ok := d.shapes[t]
	if !ok {
		s = shapeOf(t)
		d.shapes[t] = s
	}
	return s
}
