package era_test

import (
	"strings"
	"testing"

	"secateur/internal/mcp/era"
)

// BenchmarkEra measures the cost of era conversion for a call with a result of 100 kB.
func BenchmarkEra(b *testing.B) {
	text := strings.Repeat(`\tif err != nil {\n\t\treturn nil, fmt.Errorf(\"open %s: %w\", name, err)\n\t}\n`, 1200)
	legacy := []byte(`{"content":[{"type":"text","text":"` + text + `"}],"isError":false}`)
	modern := []byte(`{"resultType":"complete","content":[{"type":"text","text":"` + text + `"}],"_meta":{"` + era.MetaServer + `":{"name":"s"}}}`)
	params := []byte(full(`{"name":"t","arguments":{"path":"internal/server/handler.go","line":7},"_meta":{"progressToken":1,"~protocolVersion":"2026-07-28","~clientCapabilities":{"sampling":{"tools":{}},"roots":{},"elicitation":{"form":{},"url":{}}},"~clientInfo":{"name":"c","version":"1"}}}`))
	caps := era.ReadMeta(params).Capabilities
	normal := era.NormalCapabilities(caps)
	headers := manyHeaders(b)
	for _, c := range []struct {
		name string
		do   func()
	}{
		{"ResultToModern", func() { era.ResultToModern("tools/call", legacy, []byte(`{"name":"s"}`)) }},
		{"ResultToLegacy", func() { era.ResultToLegacy(modern) }},
		{"ResultType", func() { era.ResultType(legacy) }},
		{"ReadMeta", func() { era.ReadMeta(params) }},
		{"WithoutMeta", func() { era.WithoutMeta(params) }},
		{"NormalCapabilities", func() { era.NormalCapabilities(caps) }},
		{"Covers", func() { era.Covers(normal, caps) }},
		{"Declares", func() { era.Declares(normal, "elicitation/create", []byte(`{"mode":"url"}`)) }},
		{"ToolHeaders", func() { headers.Of([]byte(`{"s":"us-west1","i":42,"plain":"p"}`)) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.do()
			}
		})
	}
}
