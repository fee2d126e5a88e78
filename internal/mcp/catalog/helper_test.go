package catalog_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"secateur/internal/mcp/catalog"
	"secateur/internal/rawjson"
)

// items converts texts to raw items.
func items(texts ...string) [][]byte {
	raw := make([][]byte, len(texts))
	for i, t := range texts {
		raw[i] = []byte(t)
	}
	return raw
}

// tools returns minimal valid tools.
func tools(names ...string) [][]byte {
	var texts []string
	for _, n := range names {
		texts = append(texts, fmt.Sprintf(`{"name":%s,"inputSchema":{"type":"object"}}`, quote(n)))
	}
	return items(texts...)
}

func quote(s string) string { return string(rawjson.AppendQuoted(nil, s)) }

// listed returns a member of every item of a list, fetched page by page.
func listed(t *testing.T, v *catalog.View, l catalog.List, member string) []string {
	t.Helper()
	var got []string
	for _, item := range pages(t, v, l, 3) {
		var fields map[string]any
		if err := json.Unmarshal(item, &fields); err != nil {
			t.Fatalf("item %s: %v", item, err)
		}
		s, _ := fields[member].(string)
		got = append(got, s)
	}
	return got
}

// pages returns a list's items, following the cursors.
func pages(t *testing.T, v *catalog.View, l catalog.List, size int) []json.RawMessage {
	t.Helper()
	var all []json.RawMessage
	var ask catalog.Ask
	for range 10_000 {
		p, err := v.Page(l, ask, size)
		if err != nil {
			t.Fatalf("Page(%s, %+v): %v", l, ask, err)
		}
		var result map[string]json.RawMessage
		raw := p.AppendResult(nil, "")
		if err := json.Unmarshal(raw, &result); err != nil {
			t.Fatalf("result %s: %v", raw, err)
		}
		var got []json.RawMessage
		if err := json.Unmarshal(result[l.Member()], &got); err != nil {
			t.Fatalf("result %s: %v", raw, err)
		}
		if len(got) != p.Count {
			t.Fatalf("page has %d items, Count = %d", len(got), p.Count)
		}
		all = append(all, got...)
		if p.Next == "" {
			return all
		}
		ask = catalog.Ask{Cursor: p.Next, HasCursor: true}
	}
	t.Fatal("pages without end")
	return nil
}

func paramsError(t *testing.T, err error) *catalog.ParamsError {
	t.Helper()
	e, ok := errors.AsType[*catalog.ParamsError](err)
	if !ok {
		t.Fatalf("error %v is not a ParamsError", err)
	}
	return e
}

// anyText generates strings that JSON can hold: any Unicode, and lone surrogates in rawjson's form.
func anyText() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.String(),
		rapid.StringMatching(`[a-z0-9_.:/{}?#%&=+ -]{0,12}`),
		rapid.SampledFrom([]string{"ui://", "proxy://t/", "proxy://resource/", "::", "\xed\xa0\x80", "\"", "\\", "\x00", "é", "😀"}),
	)
	return rapid.Map(rapid.SliceOfN(piece, 0, 4), func(pieces []string) string { return strings.Join(pieces, "") })
}
