package mask_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"secateur/internal/cut/mask"
	"secateur/internal/mcp/wire"
	"secateur/internal/rawjson"
)

func newMasker(t *testing.T, s mask.Settings) *mask.Masker {
	t.Helper()
	m, err := mask.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// short returns settings for short examples.
func short(marker string) mask.Settings {
	return mask.Settings{MaxChars: 6, HeadChars: 2, TailChars: 3, Marker: marker}
}

func TestMask(t *testing.T) {
	for _, c := range []struct{ rule, doc, want string }{
		{"as long as allowed", `"123456"`, `"123456"`},
		{"one longer", `"1234567"`, `"12<7>567"`},
		{"characters, not bytes", `"éééééé"`, `"éééééé"`},
		{"characters, not bytes, one longer", `"éééééé日"`, `"éé<7>éé日"`},
		{"characters beyond the first plane", `"😀😀😀😀😀😀"`, `"😀😀😀😀😀😀"`},
		{"characters beyond the first plane, one longer", `"😀😀😀😀😀😀😀"`, `"😀😀<7>😀😀😀"`},
		{"escapes are one character", `"\n\t\"\\\/\u0041"`, `"\n\t\"\\\/\u0041"`},
		{"escapes are not cut", `"\n\t\"\\\/\u0041\b"`, `"\n\t<7>\/\u0041\b"`},
		{"an escaped pair is one character", `"\ud83d\ude00\ud83d\ude00\ud83d\ude00\ud83d\ude00\ud83d\ude00\ud83d\ude00"`, `"\ud83d\ude00\ud83d\ude00\ud83d\ude00\ud83d\ude00\ud83d\ude00\ud83d\ude00"`},
		{"an escaped pair is not cut", `"1\ud83d\ude0034\uD83D\uDE0067"`, `"1\ud83d\ude00<7>\uD83D\uDE0067"`},
		{"a lone surrogate is one character", `"\ud800\ud800\ud800\udc00\udc00\udc00\ud800\ud800"`, `"\ud800\ud800<7>\udc00\ud800\ud800"`},
		{"a cut beside lone surrogates joins nothing", `"1\ud83d345\ude0067"`, `"1\ud83d<8>\ude0067"`},
		{"backslashes in a row", `"\\\\\\\\\\\\\\"`, `"\\\\<7>\\\\\\"`},
		{"backslashes before a quote", `"\\\\\\\\\\\\\""`, `"\\\\<7>\\\\\""`},
		{"what looks like an escape", `"\\u0041\\u0041"`, `"\\u<12>041"`},
		{"lists, objects, deep", `{"a":[{"b":["1234567",{"c":"1234567"}]}]}`, `{"a":[{"b":["12<7>567",{"c":"12<7>567"}]}]}`},
		{"names are never cut", `{"1234567890":{"1234567890":1}}`, `{"1234567890":{"1234567890":1}}`},
		{"a value equal to its name", `{"1234567":"1234567"}`, `{"1234567":"12<7>567"}`},
		{"the rest keeps its bytes", " { \"a\" :\t1.50e+3,\r\n\"a\": 12345678901234567890 , \"\\u0062\":\"1234567\" , \"c\":[ ] } ", " { \"a\" :\t1.50e+3,\r\n\"a\": 12345678901234567890 , \"\\u0062\":\"12<7>567\" , \"c\":[ ] } "},
		{"other values", `[1234567,true,false,null,-1e1000,{}]`, `[1234567,true,false,null,-1e1000,{}]`},
		{"two cuts", `["1234567","abcdefgh"]`, `["12<7>567","ab<8>fgh"]`},
		{"a string that holds the marker", `"12<7>567"`, `"12<7>567"`},
		{"with other numbers", `"1<12345>7"`, `"1<12345>7"`},
		{"with an escape in the marker", `"12\u003c7>567"`, `"12\u003c7>567"`},
		{"longer than the marker excuses", `"12<7>56789"`, `"12<10>789"`},
		{"with a marker that is not quite one", `"12<x>567"`, `"12<8>567"`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			m := newMasker(t, short("<{orig}>"))
			got, cuts, err := m.Mask([]byte(c.doc))
			if err != nil || string(got) != c.want {
				t.Errorf("Mask(%s) = %s, %v, want %s", c.doc, got, err, c.want)
			}
			want, n := referenceMask(c.doc, short("<{orig}>"), "")
			if want != c.want || n != len(cuts) {
				t.Errorf("the reference says %s, %d cuts", want, n)
			}
		})
	}
}

func TestHeadAndTail(t *testing.T) {
	for _, c := range []struct {
		rule       string
		head, tail int
		want       string
	}{
		{"both", 2, 2, `"\né#ij"`},
		{"no head", 0, 2, `"#ij"`},
		{"no tail", 2, 0, `"\né#"`},
		{"neither", 0, 0, `"#"`},
		{"all that is allowed", 3, 3, `"\néc#hij"`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			m := newMasker(t, mask.Settings{MaxChars: 6, HeadChars: c.head, TailChars: c.tail, Marker: "#"})
			got, _, err := m.Mask([]byte(`"\nécdefghij"`))
			if err != nil || string(got) != c.want {
				t.Errorf("Mask = %s, %v, want %s", got, err, c.want)
			}
		})
	}
}

func TestMarker(t *testing.T) {
	for _, c := range []struct{ rule, marker, want string }{
		{"all places", "{orig} {head} {tail} {id}", `10 2 3 prn_X`},
		{"a place twice", "{orig}{orig}", `1010`},
		{"escaped", "\n\"\\\x01é{id}", `\n\"\\\u0001éprn_X`},
		{"other braces", "{ {} {1} {orig {\"a\":{orig}}", `{ {} {1} {orig {\"a\":10}`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			m := newMasker(t, short(c.marker))
			doc := []byte(`{"a":"abcdefghij"}`)
			long, _ := rawjson.LongStrings(doc, 10, m.LongString())
			cuts := m.Cuts(doc, long)
			for i := range cuts {
				cuts[i].ID = "prn_X"
			}
			if got, want := string(m.Append(nil, doc, cuts)), `{"a":"ab`+c.want+`hij"}`; got != want {
				t.Errorf("Append = %s, want %s", got, want)
			}
		})
	}
}

func TestDefaultsCutAsSpecified(t *testing.T) {
	s := mask.Default()
	m := newMasker(t, s)
	text := strings.Repeat("abcdefghij", 1000)
	out, cuts, err := m.Mask([]byte(`{"text":"` + text + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	marker := "\n... [KIMI_PROXY_OBSERVATION_MASKED original_chars=10000 head=2000 tail=2000] ...\n"
	if want := text[:2000] + marker + text[8000:]; got.Text != want {
		t.Errorf("Mask = %q", got.Text)
	}
	if len(cuts) != 1 || cuts[0].Chars != 10000 {
		t.Errorf("cuts = %v", cuts)
	}
	again, cuts, err := m.Mask(out)
	if err != nil || len(cuts) > 0 || !bytes.Equal(again, out) {
		t.Errorf("masked again: %d cuts, %v", len(cuts), err)
	}
}

func TestShorterStringsMayBeGiven(t *testing.T) {
	m := newMasker(t, short("#"))
	doc := []byte(`["abc","abcdef","abcdefg"]`)
	long, _ := rawjson.LongStrings(doc, 10, 0)
	if cuts := m.Cuts(doc, long); len(long) != 3 || len(cuts) != 1 || cuts[0].Chars != 7 {
		t.Errorf("Cuts of %d strings = %v", len(long), cuts)
	}
}

func TestADroppedCutStaysWhole(t *testing.T) {
	m := newMasker(t, short("<{id}>"))
	doc := []byte(`["abcdefghij","\u0031234567890","ABCDEFGHIJ"]`)
	long, _ := rawjson.LongStrings(doc, 10, m.LongString())
	cuts := m.Cuts(doc, long)
	if len(cuts) != 3 || cuts[1].Text(doc) != "1234567890" {
		t.Fatalf("cuts = %v", cuts)
	}
	cuts[0].ID, cuts[2].ID = "a", "c"
	if got, want := string(m.Append([]byte(">"), doc, append(cuts[:1:1], cuts[2]))), `>["ab<a>hij","\u0031234567890","AB<c>HIJ"]`; got != want {
		t.Errorf("Append = %s, want %s", got, want)
	}
}

func TestMedia(t *testing.T) {
	const long = `"abcdefghij"`
	const cut = `"ab#hij"`
	for _, c := range []struct{ rule, doc, want string }{
		{"an image", `{"type":"image","data":` + long + `}`, `{"type":"image","data":` + long + `}`},
		{"a sound, its type behind", `{"data":` + long + ` , "type" : "audio"}`, `{"data":` + long + ` , "type" : "audio"}`},
		{"a mimeType before", `{"mimeType":"x/y","data":` + long + `}`, `{"mimeType":"x/y","data":` + long + `}`},
		{"a mimeType behind, and more between", `{"data":` + long + `,"a":{"b":["]}"]},"mimeType":null}`, `{"data":` + long + `,"a":{"b":["]}"]},"mimeType":null}`},
		{"a blob", `{"blob":` + long + `}`, `{"blob":` + long + `}`},
		{"escaped names", `{"\u0064ata":` + long + `,"typ\u0065":"im\u0061ge"}`, `{"\u0064ata":` + long + `,"typ\u0065":"im\u0061ge"}`},
		{"data of a text", `{"type":"text","data":` + long + `}`, `{"type":"text","data":` + cut + `}`},
		{"data alone", `{"data":` + long + `}`, `{"data":` + cut + `}`},
		{"other strings of an image", `{"type":"image","data":"x","text":` + long + `}`, `{"type":"image","data":"x","text":` + cut + `}`},
		{"a list named data", `{"type":"image","data":[` + long + `]}`, `{"type":"image","data":[` + cut + `]}`},
		{"a list named blob", `{"blob":[` + long + `,{"a":` + long + `}]}`, `{"blob":[` + cut + `,{"a":` + cut + `}]}`},
		{"the type of an inner object", `{"data":` + long + `,"a":{"type":"image","mimeType":1}}`, `{"data":` + cut + `,"a":{"type":"image","mimeType":1}}`},
		{"the type of an outer object", `{"type":"image","a":{"data":` + long + `}}`, `{"type":"image","a":{"data":` + cut + `}}`},
		{"the value mimeType", `{"a":"mimeType","data":` + long + `,"b":["type","image"]}`, `{"a":"mimeType","data":` + cut + `,"b":["type","image"]}`},
		{"a type that is a list", `{"type":["image"],"data":` + long + `}`, `{"type":["image"],"data":` + cut + `}`},
		{"nested media", `{"data":` + long + `,"x":{"data":` + long + `,"type":"audio"},"y":[{"data":` + long + `}],"mimeType":""}`, `{"data":` + long + `,"x":{"data":` + long + `,"type":"audio"},"y":[{"data":` + cut + `}],"mimeType":""}`},
		{"a string alone", long, cut},
		{"a name that ends in a backslash", `{"type":"image","data\\":` + long + `,"\"data":` + long + `}`, `{"type":"image","data\\":` + cut + `,"\"data":` + cut + `}`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			s := short("#")
			s.MaxChars = len("mimeType")
			for _, s.ExemptMedia = range []bool{true, false} {
				got, _, err := newMasker(t, s).Mask([]byte(c.doc))
				want := c.want
				if !s.ExemptMedia {
					want = strings.ReplaceAll(c.doc, long, cut)
				}
				if err != nil || string(got) != want {
					t.Errorf("Mask(%s), media exempt: %t, = %s, %v, want %s", c.doc, s.ExemptMedia, got, err, want)
				}
			}
		})
	}
}

func TestIllFormedDocumentsAreRefused(t *testing.T) {
	m := newMasker(t, mask.Default())
	for _, doc := range []string{``, `{`, `"`, `{"a":1}}`, `nul`, "\"\xff\"", strings.Repeat("[", 20000)} {
		if _, _, err := m.Mask([]byte(doc)); err == nil {
			t.Errorf("Mask(%.20q) = nil", doc)
		}
	}
}

func TestOnlyResultAndErrorDataAreCut(t *testing.T) {
	long := strings.Repeat("x", 5000)
	m := newMasker(t, mask.Default())
	for _, c := range []struct {
		rule, doc string
		cuts      int
	}{
		{"a result", `{"jsonrpc":"2.0","id":"` + long + `","result":{"a":"` + long + `"}}`, 1},
		{"an error", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"` + long + `","data":["` + long + `"]}}`, 1},
		{"an unknown member", `{"jsonrpc":"2.0","id":1,"result":{},"x":"` + long + `"}`, 0},
	} {
		t.Run(c.rule, func(t *testing.T) {
			msg, err := wire.ParseServer([]byte(c.doc), m.LongString())
			if err != nil {
				t.Fatal(err)
			}
			cuts := m.Cuts(msg.Raw, msg.Long)
			out, err := wire.ParseServer(m.Append(nil, msg.Raw, cuts), 0)
			if err != nil || out.ID != msg.ID || len(cuts) != c.cuts {
				t.Errorf("%d cuts, want %d: %v", len(cuts), c.cuts, err)
			}
			if n := strings.Count(string(out.Raw), "KIMI_PROXY_OBSERVATION_MASKED"); n != c.cuts {
				t.Errorf("%d markers, want %d", n, c.cuts)
			}
		})
	}
}
