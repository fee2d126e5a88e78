package aggregate

import (
	"encoding/binary"
	"hash/fnv"
	"hash/maphash"
	"slices"
	"sync"

	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/toolindex"
	"secateur/internal/rawjson"
)

// toolIndexes keeps the indexes of what callers may find, and what servers list in a form that makes another one quickly.
// Callers that may see different tools have different indexes: not even the order of an answer tells of a tool that is denied.
type toolIndexes struct {
	mu    sync.Mutex
	parts map[string]indexedPart // guarded by mu; by server
	built []builtIndex           // guarded by mu; the one used last comes last
}

type indexedPart struct {
	print uint64 // of what the server lists
	part  *toolindex.Part
}

type builtIndex struct {
	generation string
	visible    uint64
	index      *toolindex.Index
}

// maxIndexes bounds the indexes that are kept. An index of 5 000 tools takes some 15 MB.
const maxIndexes = 4

// Index returns the index of the tools that a caller may see.
func (t *toolIndexes) of(lists *catalog.Catalog, filters bool, sees func(server, tool string) bool) *toolindex.Index {
	generation, visible := lists.Generation(catalog.Tools), uint64(0)
	if filters {
		h := fnv.New64a()
		for at := range lists.Each(catalog.Tools) {
			seen := byte(0)
			if sees(at.Server, at.Name) {
				seen = 1
			}
			_, _ = h.Write([]byte{seen})
		}
		visible = h.Sum64()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, b := range t.built {
		if b.generation == generation && b.visible == visible {
			t.built = append(slices.Delete(t.built, i, i+1), b)
			return b.index
		}
	}
	parts := t.partsOf(lists)
	if filters {
		for i, p := range parts {
			parts[i] = p.Only(func(it toolindex.Item) bool { return sees(it.Server, it.Name) })
		}
	}
	b := builtIndex{generation, visible, toolindex.New(parts...)}
	if t.built = append(t.built, b); len(t.built) > maxIndexes {
		t.built = slices.Delete(t.built, 0, 1)
	}
	return b.index
}

var partSeed = maphash.MakeSeed()

// partsOf are what the servers list. Only a server whose list has changed is read again.
func (t *toolIndexes) partsOf(lists *catalog.Catalog) []*toolindex.Part {
	raws := map[string][][]byte{}
	for at, raw := range lists.Each(catalog.Tools) {
		raws[at.Server] = append(raws[at.Server], raw)
	}
	if t.parts == nil {
		t.parts = map[string]indexedPart{}
	}
	var parts []*toolindex.Part
	for _, server := range lists.Servers() {
		if len(raws[server]) == 0 {
			continue
		}
		var h maphash.Hash
		h.SetSeed(partSeed)
		for _, raw := range raws[server] {
			_, _ = h.Write(binary.AppendUvarint(nil, uint64(len(raw))))
			_, _ = h.Write(raw)
		}
		p := t.parts[server]
		if p.part == nil || p.print != h.Sum64() {
			p = indexedPart{h.Sum64(), toolindex.NewPart(itemsOf(server, raws[server]))}
			t.parts[server] = p
		}
		parts = append(parts, p.part)
	}
	return parts
}

// itemsOf are the tools of a server as the index wants them.
func itemsOf(server string, tools [][]byte) []toolindex.Item {
	items := make([]toolindex.Item, len(tools))
	for i, raw := range tools {
		it := toolindex.Item{
			Server: server, Name: rawjson.GetText(raw, "name"), Title: rawjson.GetText(raw, "title"), Description: rawjson.GetText(raw, "description"),
		}
		for name := range rawjson.Members(rawjson.Get(rawjson.Get(raw, "inputSchema"), "properties")) {
			it.Arguments = append(it.Arguments, string(name))
		}
		items[i] = it
	}
	return items
}
