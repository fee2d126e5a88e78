package excerpt

import (
	"fmt"

	"secateur/internal/cut/mask"
	"secateur/internal/rawjson"
)

// cutStructured shortens a document that has to stay valid for its schema: long strings whose form
// the schema leaves open, and arrays by element.
func (c *cutter) cutStructured(text string, target int) string {
	long, err := rawjson.LongStrings([]byte(text), maxDepth, minInner)
	if err != nil {
		return text
	}
	if free := mask.FreeStrings([]byte(text), long, c.req.Schema); len(free) > 0 {
		if out, ok := c.cutStrings(text, free, target); ok {
			text = out
		}
	}
	if len(text) <= target {
		return text
	}
	t := readTree(text, c.goal.words())
	t.places = map[int32]mask.Place{}
	p := placeFinder{tree: t, schema: c.req.Schema, known: map[string]mask.Place{}}
	p.walk(0)
	return c.cutTree(t, target)
}

// placeFinder finds where the schema accepts markers for elements of arrays.
type placeFinder struct {
	*tree
	schema []byte
	path   []mask.Step
	known  map[string]mask.Place // elements of an array have the same path
}

func (p *placeFinder) walk(i int32) {
	n := &p.nodes[i]
	if n.first == 0 {
		return
	}
	isArray := p.doc[n.start] == '['
	if isArray {
		objects := p.isObject(n.first)
		key := fmt.Sprintf("%t%#v", objects, p.path)
		place, ok := p.known[key]
		if !ok {
			place = mask.MarkerPlace(p.schema, p.path, objects)
			p.known[key] = place
		}
		p.places[i] = place
	}
	for child := n.first; child != 0; child = p.nodes[child].next {
		step := mask.Step{Element: isArray}
		if !isArray {
			step.Name = rawjson.Unquote([]byte(p.name(&p.nodes[child])))
		}
		p.path = append(p.path, step)
		p.walk(child)
		p.path = p.path[:len(p.path)-1]
	}
}
