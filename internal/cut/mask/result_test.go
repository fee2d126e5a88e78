package mask_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"secateur/internal/cut/mask"
)

func TestTextCuts(t *testing.T) {
	for _, c := range []struct{ rule, doc, want string }{
		{"text", `{"content":[{"type":"text","text":"1234567"}]}`, `{"content":[{"type":"text","text":"12<7>567"}]}`},
		{"as long as allowed", `{"content":[{"type":"text","text":"123456"}]}`, ""},
		{"characters, not bytes", `{"content":[{"type":"text","text":"\u00e9日😀\n\ud83d\ude00é"}]}`, ""},
		{"the type stands behind", `{"content":[{"text":"1234567","type":"text"}]}`, `{"content":[{"text":"12<7>567","type":"text"}]}`},
		{"escaped names", `{"c\u006fntent":[{"\u0074ype":"te\u0078t","\u0074ext":"1234567"}]}`, `{"c\u006fntent":[{"\u0074ype":"te\u0078t","\u0074ext":"12<7>567"}]}`},
		{"an embedded resource", `{"content":[{"type":"resource","resource":{"uri":"file:///long","mimeType":"text/plain","text":"1234567"}}]}`, `{"content":[{"type":"resource","resource":{"uri":"file:///long","mimeType":"text/plain","text":"12<7>567"}}]}`},
		{"an embedded resource, the type behind", `{"content":[{"resource":{"text":"1234567"},"type":"resource"}]}`, `{"content":[{"resource":{"text":"12<7>567"},"type":"resource"}]}`},
		{"blobs", `{"content":[{"type":"resource","resource":{"uri":"u","blob":"12345678"}}]}`, ""},
		{"media", `{"content":[{"type":"image","data":"12345678","mimeType":"image/png"},{"type":"audio","data":"12345678"}]}`, ""},
		{"links", `{"content":[{"type":"resource_link","uri":"file:///12345678","name":"12345678","description":"12345678"}]}`, ""},
		{"unknown types", `{"content":[{"type":"novel","text":"12345678"},{"type":"tool_use","resource":{"text":"12345678"}}]}`, ""},
		{"no type", `{"content":[{"text":"12345678"}]}`, ""},
		{"a type that is no string", `{"content":[{"type":["text"],"text":"12345678"},{"type":null,"text":"12345678"}]}`, ""},
		{"text of a resource, resource of a text", `{"content":[{"type":"resource","text":"12345678"},{"type":"text","resource":{"text":"12345678"}}]}`, ""},
		{"text that is no string", `{"content":[{"type":"text","text":["12345678"]},{"type":"text","text":12345678}]}`, ""},
		{"annotations and _meta of a block", `{"content":[{"type":"text","text":"a","annotations":{"text":"12345678"},"_meta":{"text":"12345678"}}]}`, ""},
		{"structured content", `{"structuredContent":{"content":[{"type":"text","text":"12345678"}]},"content":[]}`, ""},
		{"_meta", `{"_meta":{"content":[{"type":"text","text":"12345678"}]},"isError":true}`, ""},
		{"blocks within blocks", `{"content":[[{"type":"text","text":"12345678"}],{"type":"tool_result","content":[{"type":"text","text":"12345678"}]}]}`, ""},
		{"another list", `{"contents":[{"type":"text","text":"12345678"}],"x":[{"type":"text","text":"12345678"}]}`, ""},
		{"content that is no list", `{"content":{"type":"text","text":"12345678"}}`, ""},
		{"no object", `[{"type":"text","text":"12345678"}]`, ""},
		{"a string", `"1234567890"`, ""},
		{"several", `{"content":[{"type":"text","text":"1234567"},{"type":"text","text":"a"},{"type":"resource","resource":{"text":"abcdefgh"}}]}`, `{"content":[{"type":"text","text":"12<7>567"},{"type":"text","text":"a"},{"type":"resource","resource":{"text":"ab<8>fgh"}}]}`},
		{"two resources", `{"content":[{"type":"resource","resource":{"text":"1234567"}},{"type":"resource","resource":{"text":"abcdefg"}},{"type":"resource"}]}`, `{"content":[{"type":"resource","resource":{"text":"12<7>567"}},{"type":"resource","resource":{"text":"ab<7>efg"}},{"type":"resource"}]}`},
		{"a backslash before the closing quote", `{"content":[{"text":"a\\","type":"image\\"},{"type":"text","text":"123456\\"}]}`, `{"content":[{"text":"a\\","type":"image\\"},{"type":"text","text":"12<7>56\\"}]}`},
		{"what is cut already", `{"content":[{"type":"text","text":"12<7>567"}]}`, ""},
		{"longer than the marker excuses", `{"content":[{"type":"text","text":"12<7>56789"}]}`, `{"content":[{"type":"text","text":"12<10>789"}]}`},
		{"of names that come twice all texts, by the last type", `{"content":[{"type":"image","text":"1234567","text":"abcdefg","type":"text"}],"content":[{"type":"text","text":"1234567"}]}`, `{"content":[{"type":"image","text":"12<7>567","text":"ab<7>efg","type":"text"}],"content":[{"type":"text","text":"12<7>567"}]}`},
		{"the rest keeps its bytes", " {\"n\" : 12345678901234567890,\r\n\"content\"\t:[ { \"type\" :\"text\" , \"text\":\n\"1234567\" , \"x\": 1.50e+3 } ] , \"e\":\"\\u0041\" } ", " {\"n\" : 12345678901234567890,\r\n\"content\"\t:[ { \"type\" :\"text\" , \"text\":\n\"12<7>567\" , \"x\": 1.50e+3 } ] , \"e\":\"\\u0041\" } "},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if c.want == "" {
				c.want = c.doc
			}
			m := newMasker(t, short("<{orig}>"))
			cuts := m.TextCuts([]byte(c.doc), m.LongString())
			if got := string(m.Append(nil, []byte(c.doc), cuts)); got != c.want {
				t.Errorf("TextCuts(%s) makes %s, want %s", c.doc, got, c.want)
			}
			if want, n := referenceTexts(c.doc, short("<{orig}>"), ""); want != c.want || n != len(cuts) {
				t.Errorf("the reference says %s, %d cuts", want, n)
			}
		})
	}
}

func TestTextCutsKeepTheOriginal(t *testing.T) {
	m := newMasker(t, short("#"))
	doc := []byte(`{"content":[{"text":"ab\ncd\"ef\ud800","type":"text"}]}`)
	cuts := m.TextCuts(doc, m.LongString())
	if len(cuts) != 1 || cuts[0].Text(doc) != "ab\ncd\"ef\xed\xa0\x80" || cuts[0].Chars != 9 {
		t.Errorf("TextCuts = %+v", cuts)
	}
	if got := m.Append(nil, doc, nil); !bytes.Equal(got, doc) {
		t.Errorf("without the dropped cut it is %s", got)
	}
}

// checkTexts compares TextCuts with the reference.
func checkTexts(t failer, doc string, s mask.Settings) {
	t.Helper()
	m, err := mask.New(s)
	if err != nil || !json.Valid([]byte(doc)) {
		return
	}
	cuts := m.TextCuts([]byte(doc), m.LongString())
	for i := range cuts {
		cuts[i].ID = "prn_0"
	}
	got := string(m.Append(nil, []byte(doc), cuts))
	want, n := referenceTexts(doc, s, "prn_0")
	if got != want || n != len(cuts) {
		t.Fatalf("%+v: texts of %q\n got %q, %d cuts\nwant %q, %d cuts", s, doc, got, len(cuts), want, n)
	}
}

func TestTextCutsAgainstReference(t *testing.T) {
	text := rapid.Custom(func(t *rapid.T) string {
		pieces := []string{"a", "7", "<", ">", "é", "日", `\n`, `\\`, `\"`, `\u0041`, `\ud83d\ude00`, `\ud800`, "<12>", "text", "type", `\u0074`}
		return `"` + strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "text"), "") + `"`
	})
	words := []string{`"content"`, `"type"`, `"text"`, `"resource"`, `"te\u0078t"`, `"data"`, `"text\\"`, `""`}
	name := rapid.SampledFrom(words)
	space := rapid.SampledFrom([]string{"", "", "", " ", "\n\t"})
	var value func(depth int) *rapid.Generator[string]
	value = func(depth int) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			kind := rapid.IntRange(0, 6).Draw(t, "kind")
			if depth == 0 {
				kind %= 3
			}
			sp := func() string { return space.Draw(t, "space") }
			var parts []string
			switch kind {
			case 0:
				return rapid.SampledFrom([]string{"0", "true", "null", `"text"`, `"resource"`, `"image"`, `"te\u0078t"`}).Draw(t, "scalar")
			case 1, 2:
				return text.Draw(t, "string")
			case 3:
				for range rapid.IntRange(0, 4).Draw(t, "elements") {
					parts = append(parts, sp()+value(depth-1).Draw(t, "element")+sp())
				}
				return "[" + strings.Join(parts, ",") + "]"
			}
			for range rapid.IntRange(0, 5).Draw(t, "members") {
				parts = append(parts, sp()+name.Draw(t, "name")+sp()+":"+sp()+value(depth-1).Draw(t, "member")+sp())
			}
			return "{" + strings.Join(parts, ",") + "}"
		})
	}
	block := rapid.Custom(func(t *rapid.T) string {
		kind := rapid.SampledFrom([]string{`"text"`, `"t\u0065xt"`, `"resource"`, `"image"`, `null`, `"text\\"`}).Draw(t, "type")
		all := []string{
			`"type" :` + kind, `"text": ` + text.Draw(t, "text"), `"resource":{"blob":` + text.Draw(t, "blob") + `,"text":` + text.Draw(t, "resource") + `}`,
			name.Draw(t, "name") + ":" + value(1).Draw(t, "member"),
		}
		return "{" + strings.Join(rapid.Permutation(all).Draw(t, "members"), " ,") + "}"
	})
	rapid.Check(t, func(t *rapid.T) {
		doc := `{"content":[` + strings.Join(rapid.SliceOfN(rapid.OneOf(block, block, value(3)), 1, 4).Draw(t, "blocks"), ",") + `],"x":` + value(3).Draw(t, "rest") + `}`
		limit := rapid.IntRange(1, 8).Draw(t, "max_chars")
		checkTexts(t, doc, mask.Settings{MaxChars: limit, HeadChars: limit / 2, TailChars: limit / 3, Marker: rapid.SampledFrom(markers).Draw(t, "marker")})
	})
}

func FuzzTextCuts(f *testing.F) {
	f.Add(`{"content":[{"type":"text","text":"abcdefghijklmnop"},{"resource":{"text":"abcdefghij\ud83d\ude00"},"type":"resource"}]}`, uint8(6), uint8(2))
	f.Add(`{"content":[{"text":"12<7>567","type":"text"}],"structuredContent":{"content":[{"type":"text","text":"12345678"}]}}`, uint8(6), uint8(2))
	f.Add(`{"content":[{"text":`, uint8(0), uint8(0))
	f.Fuzz(func(t *testing.T, doc string, limit, marker uint8) {
		s := mask.Settings{MaxChars: int(limit), HeadChars: int(limit) / 2, TailChars: int(limit) / 3, Marker: markers[int(marker)%len(markers)]}
		if m, err := mask.New(s); err == nil {
			m.TextCuts([]byte(doc), m.LongString()) // must terminate for any bytes
		}
		checkTexts(t, doc, s)
	})
}

// BenchmarkTextCuts uses results of a hundred kilobytes without long texts. Raw is the cost of
// parsing the same bytes.
func BenchmarkTextCuts(b *testing.B) {
	s := mask.Default()
	s.MaxChars, s.HeadChars, s.TailChars = 20_000, 10_000, 10_000
	m, err := mask.New(s)
	if err != nil {
		b.Fatal(err)
	}
	blocks := func(text string, size int) string {
		block := `{"type":"text","text":"` + strings.Repeat(text, size/len(text)) + `"}`
		return `{"content":[` + strings.TrimSuffix(strings.Repeat(block+",", 100_000/len(block)), ",") + `],"isError":false}`
	}
	var records strings.Builder
	for i := 0; records.Len() < 100_000; i++ {
		fmt.Fprintf(&records, `{"id":%d,"path":"internal/server/handler_%d.go","line":%d,"match":"func handle(w, r) {"},`, i, i%977, i*7%1009)
	}
	for _, doc := range []struct{ name, raw string }{
		{"prose", blocks("The quick brown fox jumps over the lazy dog and goes on. ", 18_000)},
		{"lines", blocks(`\tif err != nil {\n\t\treturn nil, fmt.Errorf(\"open %s: %w\", name, err)\n\t}\n`, 18_000)},
		{"small_blocks", blocks("short text", 40)},
		{"structured", `{"content":[],"structuredContent":{"records":[` + strings.TrimSuffix(records.String(), ",") + `]}}`},
	} {
		raw := []byte(doc.raw)
		b.Run(doc.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				if len(m.TextCuts(raw, m.LongString())) != 0 {
					b.Fatal("a cut")
				}
			}
		})
	}
}
