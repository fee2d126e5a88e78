package mask_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"secateur/internal/cut/mask"
	"secateur/internal/mcp/wire"
)

// BenchmarkMask masks whole responses of about a megabyte. ours does everything, into a reused
// buffer. copy only copies. scan looks for quotes and backslashes byte by byte, checks nothing, and
// cuts. stdlib decodes, walks and encodes.
func BenchmarkMask(b *testing.B) {
	for _, doc := range benchDocs(b) {
		b.Run(doc.name+"/ours", func(b *testing.B) { benchOurs(b, doc.raw) })
		b.Run(doc.name+"/copy", func(b *testing.B) {
			var dst []byte
			b.SetBytes(int64(len(doc.raw)))
			for b.Loop() {
				dst = append(dst[:0], doc.raw...)
			}
		})
		b.Run(doc.name+"/scan", func(b *testing.B) {
			var dst []byte
			b.SetBytes(int64(len(doc.raw)))
			for b.Loop() {
				dst = byteScan(dst[:0], doc.raw)
			}
		})
		b.Run(doc.name+"/stdlib", func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(doc.raw)))
			for b.Loop() {
				var v any
				if err := json.Unmarshal(doc.raw, &v); err != nil {
					b.Fatal(err)
				}
				if _, err := json.Marshal(walk(v)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func benchOurs(b *testing.B, doc []byte) {
	b.Helper()
	m, err := mask.New(mask.Default())
	if err != nil {
		b.Fatal(err)
	}
	var dst []byte
	b.ReportAllocs()
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		msg, err := wire.ParseServer(doc, m.LongString())
		if err != nil {
			b.Fatal(err)
		}
		dst = m.Append(dst[:0], msg.Raw, m.Cuts(msg.Raw, msg.Long))
	}
}

type benchDoc struct {
	name string
	raw  []byte
}

func benchDocs(b *testing.B) []benchDoc {
	b.Helper()
	const size = 1 << 20
	response := func(result string) []byte {
		return []byte(`{"jsonrpc":"2.0","id":7,"result":` + result + `}`)
	}
	text := func(s string) []byte {
		return response(`{"content":[{"type":"text","text":"` + strings.Repeat(s, size/len(s)) + `"}],"isError":false}`)
	}
	var records strings.Builder
	for i := 0; records.Len() < size; i++ {
		if i > 0 {
			records.WriteByte(',')
		}
		fmt.Fprintf(&records, `{"id":%d,"path":"internal/server/handler_%d.go","line":%d,"match":"func handle(w, r) {","kind":"code","score":%.3f,"open":%t}`,
			i, i%977, i*7%1009, float64(i%1000)/1000, i%2 == 0)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, []byte("["+records.String()+"]"), "", "  "); err != nil {
		b.Fatal(err)
	}
	deep := strings.Repeat("[", 4000) + strings.Repeat("]", 4000) + ","
	objects := strings.Repeat(`{"a":`, 4000) + "1" + strings.Repeat("}", 4000) + ","
	return []benchDoc{
		{"one_string", text("The quick brown fox jumps over the lazy dog and goes on. ")},
		{"lines", text(`	if err != nil {\n\t\treturn nil, fmt.Errorf(\"open %s: %w\", name, err)\n\t}\n`[1:])},
		{"records", response("[" + records.String() + "]")},
		{"indented", response(indented.String())},
		{"deep_arrays", response("[" + strings.Repeat(deep, size/len(deep)) + "1]")},
		{"deep_objects", response("[" + strings.Repeat(objects, size/len(objects)) + "1]")},
		{"escaped", text(`\u00e9`)},
		{"multibyte", text("Observation masquée: résultat d’outil ancien. 日本語のテキスト。")},
	}
}

// byteScan copies a document while it follows its strings byte by byte.
func byteScan(dst, doc []byte) []byte {
	inside, start := false, 0
	for i := 0; i < len(doc); i++ {
		switch c := doc[i]; {
		case c == '\\' && inside:
			i++
		case c == '"':
			if inside && i-start > 4000 {
				dst = append(dst, doc[start:start+2000]...)
				start = i - 2000
			}
			dst = append(dst, doc[start:i]...)
			start = i
			inside = !inside
		}
	}
	return append(dst, doc[start:]...)
}

// walk masks a decoded value.
func walk(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			v[k] = walk(e)
		}
	case []any:
		for i, e := range v {
			v[i] = walk(e)
		}
	case string:
		runes := []rune(v)
		if len(runes) <= 4000 {
			return v
		}
		return string(runes[:2000]) + fmt.Sprintf("\n... [masked %d] ...\n", len(runes)) + string(runes[len(runes)-2000:])
	}
	return v
}
