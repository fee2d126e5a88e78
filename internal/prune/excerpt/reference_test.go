package excerpt

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// derived checks, slowly and obviously, that a value is what is left of another: the same shape, values as they were, and a marker for
// everything that is missing.
func derived(before, after any) error {
	switch b := before.(type) {
	case map[string]any:
		a, ok := after.(map[string]any)
		if !ok {
			return fmt.Errorf("an object became %T", after)
		}
		return derivedObject(b, a, nil)
	case []any:
		a, ok := after.([]any)
		if !ok {
			return fmt.Errorf("an array became %T", after)
		}
		return derivedArray(b, a)
	}
	if fmt.Sprint(before) == fmt.Sprint(after) {
		return nil
	}
	b, isText := before.(string)
	a, stillText := after.(string)
	if isText && stillText && len(b) >= minInner && strings.Contains(a, "⟦PRUNED ") {
		return nil // a long string that was shortened in itself
	}
	return fmt.Errorf("%v became %v", before, after)
}

// derivedObject allows the members that a table has announced to be missing.
func derivedObject(before, after map[string]any, gone map[string]bool) error {
	missing, announced := 0, 0
	for name, value := range before {
		left, ok := after[name]
		if !ok {
			if !gone[name] {
				missing++
			}
			continue
		}
		if err := derived(value, left); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for name, value := range after {
		if _, ok := before[name]; ok {
			continue
		}
		var n int
		if _, err := fmt.Sscanf(name, "⟦PRUNED members (%d)", &n); err != nil || value != nil {
			return fmt.Errorf("a member %q is new", name)
		}
		announced += n
	}
	if missing != announced {
		return fmt.Errorf("%d members are missing, %d announced", missing, announced)
	}
	return nil
}

// derivedArray goes through both, a marker standing for as many elements as it says.
func derivedArray(before, after []any) error {
	at := 0
	var gone map[string]bool
	for _, left := range after {
		if text, ok := markerOf(left); ok {
			rest, isColumns := strings.CutPrefix(text, "members of items ")
			if isColumns {
				gone = namesIn(rest)
				continue
			}
			first, last, n := numbers(strings.TrimPrefix(text, "items "))
			if first != at+1 || n != last-first+1 {
				return fmt.Errorf("at %d a marker says %q", at+1, text)
			}
			at = last
			continue
		}
		if at >= len(before) {
			return fmt.Errorf("an element too many: %v", left)
		}
		b, isObject := before[at].(map[string]any)
		a, stillObject := left.(map[string]any)
		at++
		if isObject && stillObject && at > 1 {
			if err := derivedObject(b, a, gone); err != nil {
				return fmt.Errorf("[%d]: %w", at-1, err)
			}
			continue
		}
		if err := derived(before[at-1], left); err != nil {
			return fmt.Errorf("[%d]: %w", at-1, err)
		}
	}
	if at != len(before) {
		return fmt.Errorf("%d of %d elements are accounted for", at, len(before))
	}
	return nil
}

func markerOf(v any) (string, bool) {
	if o, ok := v.(map[string]any); ok && len(o) == 1 {
		for name, value := range o {
			if value == nil {
				v = name
			}
		}
	}
	s, ok := v.(string)
	rest, isMark := strings.CutPrefix(s, "⟦PRUNED ")
	ofArray := strings.HasPrefix(rest, "items ") || strings.HasPrefix(rest, "members of items ")
	return strings.TrimSuffix(rest, "⟧"), ok && isMark && ofArray
}

func numbers(text string) (first, last, n int) {
	_, _ = fmt.Sscanf(text, "%d-%d (%d)", &first, &last, &n)
	return first, last, n
}

func namesIn(text string) map[string]bool {
	out := map[string]bool{}
	_, list, _ := strings.Cut(text, "names: ")
	for name := range strings.SplitSeq(list, ", ") {
		out[name] = true
	}
	return out
}

// decoded is a document with its numbers as they are written.
func decoded(text string) (v any, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// records are some records of a made-up table.
func records(n int) string {
	var b strings.Builder
	b.WriteString("[")
	for i := range n {
		if i > 0 {
			b.WriteString(",")
		}
		id := strconv.Itoa(100000 + i*7919)
		b.WriteString(`{"id": ` + id + `, "name": "Person ` + id + `", "active": true, "score": ` + strconv.Itoa(i%10) + `.50, "tags": ["a", "b"]}`)
	}
	return b.String() + "]"
}
