package catalog_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"secateur/internal/mcp/catalog"
)

// fiveHundred returns ten servers with fifty tools each, of about 1 kB.
func fiveHundred() []catalog.ServerLists {
	var lists []catalog.ServerLists
	for s := range 10 {
		var list catalog.ServerLists
		list.Server = fmt.Sprintf("server-%d", s)
		for i := range 50 {
			list.Tools = append(list.Tools, fmt.Appendf(nil, `{"name":"tool_number_%d","title":"Tool %d","description":%q,`+
				`"inputSchema":{"type":"object","properties":{"path":{"type":"string","description":%q},"limit":{"type":"integer","minimum":1}},`+
				`"required":["path"],"additionalProperties":false},"annotations":{"readOnlyHint":true}}`,
				i, i, strings.Repeat("What the tool does. ", 25), strings.Repeat("What this means. ", 15)))
		}
		lists = append(lists, list)
	}
	return lists
}

func BenchmarkMerge(b *testing.B) {
	lists, names := fiveHundred(), catalog.NewNames(catalog.Default())
	b.ReportAllocs()
	for b.Loop() {
		catalog.Merge(lists, names)
	}
}

// BenchmarkMergeAndRender merges and renders a list for the first client of its kind.
func BenchmarkMergeAndRender(b *testing.B) {
	lists, names := fiveHundred(), catalog.NewNames(catalog.Default())
	b.ReportAllocs()
	for b.Loop() {
		if p, err := catalog.Merge(lists, names).For("claude-code").Page(catalog.Tools, catalog.Ask{}, 1000); err != nil || p.Count != 500 {
			b.Fatal(p.Count, err)
		}
	}
}

// BenchmarkPage measures later tools/list requests, and a plain copy for comparison.
func BenchmarkPage(b *testing.B) {
	v := catalog.Merge(fiveHundred(), nil).For("claude-code")
	all, err := v.Page(catalog.Tools, catalog.Ask{}, 1000)
	if err != nil {
		b.Fatal(err)
	}
	var dst []byte
	b.Run("page", func(b *testing.B) {
		b.SetBytes(int64(len(all.Items)))
		b.ReportAllocs()
		for b.Loop() {
			p, err := v.Page(catalog.Tools, catalog.Ask{}, 1000)
			if err != nil {
				b.Fatal(err)
			}
			dst = p.AppendResult(dst[:0], "")
		}
	})
	b.Run("copy", func(b *testing.B) {
		b.SetBytes(int64(len(all.Items)))
		for b.Loop() {
			dst = append(dst[:0], all.Items...)
		}
	})
}

func BenchmarkResolve(b *testing.B) {
	v := catalog.Merge(fiveHundred(), nil).For("claude-code")
	for name, tool := range map[string]string{"own": "server-3-tool_number_7", "contract": "server-3::tool_number_7", "unknown": "nobody::tool"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				v.ResolveTool(tool)
			}
		})
	}
}

func BenchmarkRewrite(b *testing.B) {
	text := strings.Repeat("Some text with a \\\"quote\\\" now and then, and a line.\\n", 20_000)
	plain := []byte(`{"content":[{"type":"text","text":"` + text + `"}]}`)
	linked := []byte(`{"content":[{"type":"text","text":"` + text + `"},{"type":"resource_link","uri":"a:1"}]}`)
	o := catalog.Outgoing{Server: "s"}
	for name, doc := range map[string][]byte{"nothing": plain, "link": linked, "small": []byte(`{"content":[{"type":"text","text":"hello"}]}`)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				if got := o.Result("tools/call", doc); len(got) < len(doc) || bytes.Equal(got, nil) {
					b.Fatal("lost")
				}
			}
		})
	}
}
