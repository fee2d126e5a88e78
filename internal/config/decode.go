package config

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"secateur/internal/access"
	"secateur/internal/config/suggest"
	"secateur/internal/mcp/upstream"
)

// decoder fills Settings from a tree and records where every value came from.
type decoder struct {
	lookup func(string) (string, bool)
	json   bool // the file is JSON, which does not distinguish 1 from 1.0
	lax    bool // a client's file: an unknown top-level key is ignored with a warning
	shapes map[reflect.Type]*shape
	places map[string]place
	bad    map[string]bool // paths with a reported mistake
	meant  map[string]bool // paths that an unknown key was probably meant to be
	found  []finding

	unready  []unready
	expanded map[string]string // values of variables that were used, with their names
}

// spot is the decoder's position.
type spot struct {
	path    string // "servers[0].env.TOKEN": as validation names it
	pattern string // "servers[].env.*": as keys.go names it
	place
}

func (s spot) key(name, label string, off int) spot {
	return spot{join(s.path, name), join(s.pattern, name), place{label: join(s.label, label), off: off}}
}

func (s spot) entry(m member) spot {
	label := m.value.label
	if label == "" {
		label = join(s.label, m.name)
	}
	return spot{join(s.path, m.name), s.pattern + ".*", place{label: label, off: m.off}}
}

func (s spot) item(i int, n *node) spot {
	label := n.label
	if label == "" {
		label = fmt.Sprintf("%s[%d]", s.label, i)
	}
	return spot{fmt.Sprintf("%s[%d]", s.path, i), s.pattern + "[]", place{label: label, off: n.off}}
}

func (d *decoder) complain(at spot, format string, args ...any) {
	d.bad[at.path] = true
	d.found = append(d.found, finding{place: at.place, text: fmt.Sprintf(format, args...)})
}

func (d *decoder) warn(at spot, format string, args ...any) {
	d.found = append(d.found, finding{place: at.place, text: fmt.Sprintf(format, args...), severity: Warning})
}

// missing notes a variable that is not set. In a server's entry it keeps that server from starting, and no other.
func (d *decoder) missing(at spot, text string) {
	d.complain(at, "%s", text)
	server, isServer := strings.CutPrefix(at.path, "servers[")
	i, key, _ := strings.Cut(server, "].")
	n, err := strconv.Atoi(i)
	if !isServer || err != nil || key == "id" {
		return
	}
	d.found[len(d.found)-1].severity = Unready
	d.unready = append(d.unready, unready{n, len(d.found) - 1, key + ": " + text})
}

// unready is why a server cannot start.
type unready struct {
	server  int // in the list of servers
	finding int
	why     string
}

// leaveOut tells the servers why they cannot start. One that is disabled would not start anyway.
func (d *decoder) leaveOut(servers []upstream.Settings) {
	for _, u := range d.unready {
		s := &servers[u.server]
		if s.Disabled {
			d.found[u.finding].severity = Warning
		}
		if s.Unready == "" {
			s.Unready = u.why
		}
	}
}

// shorthand is a table or a list in whose place a word may be written.
type shorthand interface{ SetShort(word string) error }

var (
	durationType        = reflect.TypeFor[time.Duration]()
	textUnmarshalerType = reflect.TypeFor[encoding.TextUnmarshaler]()
	shorthandType       = reflect.TypeFor[shorthand]()
	// A list is accepted in place of a single one.
	globsType = reflect.TypeFor[access.Globs]()
)

// decode puts a node into a Go value. Null keeps the default, as if the key were absent.
func (d *decoder) decode(n *node, v reflect.Value, at spot) {
	d.places[at.path] = at.place
	if n.kind == kindNull {
		return
	}
	switch t := v.Type(); {
	case t.Kind() == reflect.Pointer:
		fresh := reflect.New(t.Elem())
		d.decode(n, fresh.Elem(), at)
		v.Set(fresh)
	case t == globsType && n.kind == kindString:
		if text, ok := d.text(n, at); ok {
			v.Set(reflect.ValueOf(access.Globs{text}))
		}
	case n.kind == kindString && reflect.PointerTo(t).Implements(shorthandType):
		if text, ok := d.text(n, at); ok {
			if err := v.Addr().Interface().(shorthand).SetShort(text); err != nil {
				d.complain(at, "%v", err)
			}
		}
	case reflect.PointerTo(t).Implements(textUnmarshalerType):
		if text, ok := d.text(n, at); ok {
			if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text)); err != nil {
				d.complain(at, "%v", err)
			}
		}
	case t == durationType:
		d.decodeDuration(n, v, at)
	default:
		d.decodeKind(n, v, at)
	}
}

func (d *decoder) decodeKind(n *node, v reflect.Value, at spot) {
	switch v.Kind() {
	case reflect.Struct:
		d.decodeStruct(n, v, at)
	case reflect.Map:
		d.decodeMap(n, v, at)
	case reflect.Slice:
		d.decodeSlice(n, v, at)
	case reflect.String:
		if text, ok := d.text(n, at); ok {
			v.SetString(text)
		}
	case reflect.Bool:
		if n.kind != kindBool {
			d.wrongKind(n, at, "true or false")
			return
		}
		v.SetBool(n.text == "true")
	case reflect.Int, reflect.Int64:
		i, err := n.integer(d.json)
		switch {
		case err != nil:
			d.complain(at, "%v", err)
		case i == nil:
			d.wrongKind(n, at, "a whole number")
		default:
			v.SetInt(*i)
		}
	case reflect.Float64:
		if f, ok := d.number(n, at, "a number"); ok {
			v.SetFloat(f)
		}
	default:
		panic("config: no decoding for " + v.Type().String())
	}
}

func (d *decoder) decodeStruct(n *node, v reflect.Value, at spot) {
	if n.kind != kindTable {
		d.wrongKind(n, at, "a table")
		return
	}
	shape := d.shape(v.Type())
	for _, m := range n.members {
		field, known := shape.field(v, m.name)
		if known && d.isTheirs(m, field, at) {
			d.warn(at.key(m.name, m.name, m.off), "ignored: not a key of ours")
			continue
		}
		if !known {
			d.unknownKey(m, at, shape.names)
			continue
		}
		label := m.label
		if label == "" {
			label = m.name
		}
		d.decode(m.value, field, at.key(m.name, label, m.off))
	}
}

// isTheirs reports whether a key has another meaning in a client's file: none of its members is
// ours.
func (d *decoder) isTheirs(m member, field reflect.Value, at spot) bool {
	if !d.lax || at.path != "" || !slices.Contains(sharedWords, m.name) {
		return false
	}
	if m.value.kind != kindTable || field.Kind() != reflect.Struct {
		return true
	}
	ours := d.shape(field.Type()).names
	return !slices.ContainsFunc(m.value.members, func(inner member) bool { return slices.Contains(ours, inner.name) })
}

// sharedWords are our keys that clients' files use for something else.
var sharedWords = []string{"telemetry"}

func (d *decoder) unknownKey(m member, at spot, known []string) {
	here := at.key(m.name, m.name, m.off)
	top := at.path == ""
	if isForOthers(m.name) || top && m.name == "$schema" {
		return
	}
	if reason, ok := refused(here.pattern); ok {
		d.complain(here, "%s", reason)
		return
	}
	hint := ""
	if s := suggest.Nearest(m.name, known); s != "" {
		hint = fmt.Sprintf("; did you mean %q?", s)
		d.meant[join(at.path, s)] = true
	} else if home := homeOf(m.name, at.pattern); home != "" {
		hint = "; " + home
	}
	if top && d.lax {
		d.warn(here, "ignored: not a key of ours%s", hint)
		return
	}
	d.complain(here, "unknown key%s", hint)
}

// isForOthers reports whether a key is reserved for other programs and for remarks.
func isForOthers(name string) bool {
	return strings.HasPrefix(name, "x-") || strings.HasPrefix(name, "_")
}

func (d *decoder) decodeMap(n *node, v reflect.Value, at spot) {
	if n.kind != kindTable {
		d.wrongKind(n, at, "a table")
		return
	}
	out := reflect.MakeMapWithSize(v.Type(), len(n.members))
	for _, m := range n.members {
		item := reflect.New(v.Type().Elem()).Elem()
		d.decode(m.value, item, at.entry(m))
		out.SetMapIndex(reflect.ValueOf(m.name), item)
	}
	v.Set(out)
}

func (d *decoder) decodeSlice(n *node, v reflect.Value, at spot) {
	if n.kind != kindList {
		d.wrongKind(n, at, "a list of "+itemName(v.Type().Elem())+"s")
		return
	}
	out := reflect.MakeSlice(v.Type(), len(n.items), len(n.items))
	for i, item := range n.items {
		here := at.item(i, item)
		if item.kind == kindNull {
			d.wrongKind(item, here, "a "+itemName(v.Type().Elem()))
			continue
		}
		d.decode(item, out.Index(i), here)
	}
	v.Set(out)
}

// text returns a string with its variables expanded.
func (d *decoder) text(n *node, at spot) (string, bool) {
	if n.kind != kindString {
		d.wrongKind(n, at, "a string")
		return "", false
	}
	e := expand(n.text, func(name string) (string, bool) {
		value, set := d.lookup(name)
		d.expanded[value] = name
		return value, set
	})
	for _, err := range e.errs {
		d.complain(at, "%s", err)
	}
	for _, err := range e.unset {
		d.missing(at, err)
	}
	if len(e.errs)+len(e.unset) > 0 {
		return "", false
	}
	if e.literal && !n.outside {
		if warning := literalSecret(at.pattern, at.path, e.value); warning != "" {
			d.warn(at, "%s", warning)
		}
	}
	return e.value, true
}

// decodeDuration reads a time in seconds, or in milliseconds if the key's name ends in _ms.
func (d *decoder) decodeDuration(n *node, v reflect.Value, at spot) {
	unit, what := time.Second, "a number of seconds"
	if strings.HasSuffix(at.path, "_ms") {
		unit, what = time.Millisecond, "a number of milliseconds"
	}
	f, ok := d.number(n, at, what)
	if !ok {
		return
	}
	t, err := duration(f, unit)
	if err != nil {
		d.complain(at, "%v", err)
		return
	}
	v.SetInt(int64(t))
}

// duration converts a number of units, which must not be negative and must fit.
func duration(f float64, unit time.Duration) (time.Duration, error) {
	switch t := f * float64(unit); {
	case f < 0:
		return 0, fmt.Errorf("%v is negative", f)
	case math.IsNaN(t) || t >= math.MaxInt64:
		return 0, fmt.Errorf("too long a time")
	case f > 0 && t < 1:
		return 0, fmt.Errorf("too short a time")
	default:
		return time.Duration(t), nil
	}
}

func (d *decoder) number(n *node, at spot, want string) (float64, bool) {
	if n.kind != kindInteger && n.kind != kindFloat {
		d.wrongKind(n, at, want)
		return 0, false
	}
	f, err := n.float()
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		d.complain(at, "not a number that can be used")
		return 0, false
	}
	return f, true
}

// integer returns the node's whole number; nil: it is something else.
func (n *node) integer(json bool) (*int64, error) {
	switch {
	case n.kind == kindInteger:
		i, err := strconv.ParseInt(strings.ReplaceAll(n.text, "_", ""), 0, 64)
		if err != nil {
			return nil, fmt.Errorf("too large a number")
		}
		return &i, nil
	case n.kind == kindFloat && json: // 60.0 and 6e1 are the same number in JSON
		f, err := n.float()
		if err != nil || math.Abs(f) >= 1<<53 {
			return nil, fmt.Errorf("too large a number")
		}
		if i := int64(f); float64(i) == f {
			return &i, nil
		}
	}
	return nil, nil // not a whole number; the caller reports it
}

func (n *node) float() (float64, error) {
	text := strings.ReplaceAll(n.text, "_", "")
	if n.kind == kindInteger {
		if i, err := strconv.ParseInt(text, 0, 64); err == nil {
			return float64(i), nil
		}
	}
	return strconv.ParseFloat(text, 64)
}

// wrongKind reports what was expected and, if it can guess, how to write it.
func (d *decoder) wrongKind(n *node, at spot, want string) {
	hint := ""
	if n.kind == kindString {
		_, err := strconv.ParseFloat(n.text, 64)
		switch {
		case strings.HasPrefix(want, "a list"):
			hint = "; put it into [ ]"
		case strings.Contains(want, "number") && err == nil, want == "true or false" && (n.text == "true" || n.text == "false"):
			hint = "; remove the quotes"
		}
	}
	if want == "a string" && n.kind != kindTable && n.kind != kindList && n.kind != kindNull {
		hint = "; put it in quotes"
	}
	got := n.kind.String()
	if d.json && n.kind == kindTable {
		got = "an object"
	}
	d.complain(at, "expected %s, not %s%s", want, got, hint)
}

// itemName names the items of a list of this type.
func itemName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct:
		return "table"
	case reflect.Int:
		return "number"
	default:
		return "string"
	}
}
