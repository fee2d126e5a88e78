package wire_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"secateur/internal/mcp/wire"
)

// BenchmarkParseRequest parses a small request and several with about 1 MB of params. The jsontext
// cases run that package's validity check for comparison; it does not parse the envelope.
func BenchmarkParseRequest(b *testing.B) {
	const size = 1 << 20
	var names, records strings.Builder
	for i := 0; names.Len() < size; i++ {
		fmt.Fprintf(&names, `"name_%d":%d,`, i, i)
	}
	for i := 0; records.Len() < size; i++ {
		fmt.Fprintf(&records, `{"id":%d,"path":"internal/server/handler_%d.go","line":%d,"match":"func handle(w, r) {"},`, i, i, i)
	}
	for name, arguments := range map[string]string{
		"small":      `{"path":"/tmp/a.txt","limit":10}`,
		"one_string": `{"text":"` + strings.Repeat("The quick brown fox. ", size/21) + `"}`,
		"records":    `{"list":[` + records.String() + `null]}`,
		"many_names": `{` + names.String() + `"last":null}`,
	} {
		doc := []byte(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"write","arguments":` + arguments + `}}`)
		b.Run(name+"/ours", func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := wire.ParseRequest(doc, wire.MaxRequestDepth); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/jsontext", func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				if !jsontext.Value(doc).IsValid() {
					b.Fatal("not valid")
				}
			}
		})
	}
}
