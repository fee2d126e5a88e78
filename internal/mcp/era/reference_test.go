package era_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"secateur/internal/mcp/era"
	"secateur/internal/rawjson"
)

// The reference functions below reimplement the package in the simplest way on top of
// encoding/json. An object is a list of its members in order, each with its raw value.

type refMember struct{ name, raw string }

// refMembers splits an object into members. Any other value has none.
func refMembers(doc []byte) (members []refMember, isObject bool) {
	d := json.NewDecoder(bytes.NewReader(doc))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, false
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, false
		}
		members = append(members, refMember{name.(string), string(raw)})
	}
	return members, true
}

// refGet returns the raw value of the last member of this name; "": none.
func refGet(doc []byte, name string) string {
	members, _ := refMembers(doc)
	for _, m := range slices.Backward(members) {
		if m.name == name {
			return m.raw
		}
	}
	return ""
}

// refText returns the decoded text of a raw value if it is a string.
func refText(raw string) (s string, ok bool) {
	ok = strings.HasPrefix(raw, `"`) && json.Unmarshal([]byte(raw), &s) == nil
	return s, ok
}

func refWithout(members []refMember, names ...string) []refMember {
	return slices.DeleteFunc(slices.Clone(members), func(m refMember) bool { return slices.Contains(names, m.name) })
}

// refShow formats members for comparison, with raw values byte for byte.
func refShow(members []refMember) string { return fmt.Sprintf("%q", members) }

// refInner is the reference for functions that remove members of an inner object, such as
// WithoutMeta.
func refInner(doc []byte, outer string, names ...string) string {
	members, _ := refMembers(doc)
	var shown []string
	for _, m := range members {
		inner, isObject := refMembers([]byte(m.raw))
		if m.name != outer || !isObject {
			shown = append(shown, refShow([]refMember{m}))
			continue
		}
		left := refWithout(inner, names...)
		if len(left) > 0 || len(inner) == 0 {
			shown = append(shown, fmt.Sprintf("%q:%s", m.name, refShow(left)))
		}
	}
	return strings.Join(shown, ",")
}

// showInner formats a document like refInner.
func showInner(doc []byte, outer string) string { return refInner(doc, outer) }

// checkDocument compares every function that takes an object with its reference.
func checkDocument(t failer, doc []byte) {
	t.Helper()
	before := bytes.Clone(doc)
	valid := rawjson.Check(doc, 1000) == nil
	outs := map[string][]byte{
		"WithoutMeta":      era.WithoutMeta(doc),
		"WithoutRetry":     era.WithoutRetry(doc),
		"ResultToLegacy":   era.ResultToLegacy(doc),
		"ResultToModern":   era.ResultToModern("tools/list", doc, []byte(`{"name":"n"}`)),
		"ResultToModern 2": era.ResultToModern("tools/call", doc, nil),
		"RetryParams":      era.RetryParams(doc, []era.InputResponse{{Key: "k\"", Value: []byte(`{"a":1}`)}}, []byte(`"s"`)),
		"ForLegacy":        era.ForLegacy(doc),
		"Normal":           era.NormalCapabilities(doc),
		"Union":            era.Union(doc, []byte(`{"a":{"b":true}}`)),
	}
	era.ReadMeta(doc)
	era.Covers(doc, doc)
	_, _ = era.ReadToolHeaders(doc)
	if !bytes.Equal(doc, before) {
		t.Fatalf("%q was changed to %q", before, doc)
	}
	if !valid {
		return // it is enough that nothing panicked
	}
	for name, out := range outs {
		if err := rawjson.Check(out, 1001); err != nil {
			t.Fatalf("%s(%s) = %s: %v", name, doc, out, err)
		}
	}
	members, isObject := refMembers(doc)
	if !isObject {
		return
	}
	want := refInner(doc, "_meta", era.MetaVersion, era.MetaCapabilities, era.MetaClient, era.MetaLogLevel)
	if got := showInner(outs["WithoutMeta"], "_meta"); got != want {
		t.Fatalf("WithoutMeta(%s) = %s\n got %s\nwant %s", doc, outs["WithoutMeta"], got, want)
	}
	want = refInner(doc, "extensions", "io.modelcontextprotocol/tasks")
	if got := showInner(outs["ForLegacy"], "extensions"); got != want {
		t.Fatalf("ForLegacy(%s) = %s\n got %s\nwant %s", doc, outs["ForLegacy"], got, want)
	}
	for name, gone := range map[string][]string{
		"WithoutRetry":   {"inputResponses", "requestState"},
		"ResultToLegacy": {"resultType", "ttlMs", "cacheScope"},
	} {
		got, _ := refMembers(outs[name])
		if left := refWithout(members, gone...); refShow(got) != refShow(left) {
			t.Fatalf("%s(%s) = %s, want %s", name, doc, refShow(got), refShow(left))
		}
	}
	checkModern(t, doc, outs["ResultToModern"])
	retried, _ := refMembers(outs["RetryParams"])
	left := append(refWithout(members, "inputResponses", "requestState"),
		refMember{"inputResponses", `{"k\"":{"a":1}}`}, refMember{"requestState", `"s"`})
	if refShow(retried) != refShow(left) {
		t.Fatalf("RetryParams(%s) = %s, want %s", doc, refShow(retried), refShow(left))
	}
	checkReads(t, doc)
}

// checkModern checks a result converted to modern: existing members stay in order, and missing ones
// follow.
func checkModern(t failer, doc, got []byte) {
	t.Helper()
	had, _ := refMembers(doc)
	has, _ := refMembers(got)
	if len(has) < len(had) {
		t.Fatalf("ResultToModern(%s) = %s", doc, got)
	}
	for i, m := range had {
		isOurs := m.name == "_meta" || m.raw == "null" && slices.Contains([]string{"resultType", "ttlMs", "cacheScope"}, m.name)
		if has[i].name != m.name || has[i].raw != m.raw && !isOurs {
			t.Fatalf("ResultToModern(%s) = %s: member %d is %q", doc, got, i, has[i])
		}
	}
	kind := refGet(doc, "resultType")
	if kind == "" || kind == "null" {
		kind = `"complete"`
	}
	if refGet(got, "resultType") != kind {
		t.Fatalf("ResultToModern(%s) = %s, of type %s", doc, got, kind)
	}
	lacks := func(name string) bool { raw := refGet(doc, name); return raw == "" || raw == "null" }
	if text, _ := refText(kind); text == "complete" {
		if lacks("ttlMs") && refGet(got, "ttlMs") != "0" || lacks("cacheScope") && refGet(got, "cacheScope") != `"private"` {
			t.Fatalf("ResultToModern(%s) = %s: may not be kept", doc, got)
		}
	} else if refGet(doc, "ttlMs") != refGet(got, "ttlMs") {
		t.Fatalf("ResultToModern(%s) = %s: may be kept", doc, got)
	}
	oldMeta, newMeta := []byte(refGet(doc, "_meta")), []byte(refGet(got, "_meta"))
	inner, isObject := refMembers(oldMeta)
	switch {
	case !isObject && len(oldMeta) > 0 && string(oldMeta) != "null":
		if !bytes.Equal(oldMeta, newMeta) {
			t.Fatalf("ResultToModern(%s) = %s: _meta", doc, got)
		}
	case refGet(oldMeta, era.MetaServer) == "":
		inner = append(inner, refMember{era.MetaServer, `{"name":"n"}`})
		if now, _ := refMembers(newMeta); refShow(now) != refShow(inner) {
			t.Fatalf("ResultToModern(%s) = %s: _meta, want %s", doc, got, refShow(inner))
		}
	}
}

// checkReads checks the functions that only read.
func checkReads(t failer, doc []byte) {
	t.Helper()
	kind := "complete"
	if raw := refGet(doc, "resultType"); raw != "" && raw != "null" {
		kind, _ = refText(raw)
	}
	if got := era.ResultType(doc); strings.ToValidUTF8(got, "\ufffd") != kind && !strings.Contains(kind, "\ufffd") {
		t.Fatalf("ResultType(%s) = %q, want %q", doc, got, kind)
	}
	meta := []byte(refGet(doc, "_meta"))
	version, _ := refText(refGet(meta, era.MetaVersion))
	m := era.ReadMeta(doc)
	if m.HasVersion != (refGet(meta, era.MetaVersion) != "") || m.Version != version && !strings.Contains(version, "\ufffd") {
		t.Fatalf("ReadMeta(%s) = %+v", doc, m)
	}
	caps := refGet(meta, era.MetaCapabilities)
	if !strings.HasPrefix(caps, "{") {
		caps = ""
	}
	if string(m.Capabilities) != caps || (m.Capabilities == nil) != (caps == "") {
		t.Fatalf("ReadMeta(%s) has capabilities %s, want %s", doc, m.Capabilities, caps)
	}
	checkInputs(t, doc, kind)
}

func checkInputs(t failer, doc []byte, kind string) {
	t.Helper()
	absent := func(raw string) bool { return raw == "" || raw == "null" }
	reqs, state, ok := era.ReadInputRequired(doc)
	if ok != (kind == "input_required") {
		t.Fatalf("ReadInputRequired(%s) is %v", doc, ok)
	}
	if !ok {
		return
	}
	if want := refGet(doc, "requestState"); string(state) != want && !absent(want) || (state == nil) != absent(want) {
		t.Fatalf("ReadInputRequired(%s) has the state %s", doc, state)
	}
	inner, _ := refMembers([]byte(refGet(doc, "inputRequests")))
	distinct := map[string]bool{}
	for _, m := range inner {
		distinct[m.name] = true
	}
	// names that encoding/json cannot distinguish
	lone := strings.Contains(refShow(inner), "\ufffd")
	if len(reqs) != len(distinct) && !lone {
		t.Fatalf("ReadInputRequired(%s) has %d questions, want %d", doc, len(reqs), len(distinct))
	}
	for _, r := range reqs {
		raw := []byte(refGet([]byte(refGet(doc, "inputRequests")), r.Key))
		method, _ := refText(refGet(raw, "method"))
		params := refGet(raw, "params")
		if absent(params) {
			params = ""
		}
		if !lone && (r.Method != method && !strings.Contains(method, "\ufffd") || string(r.Params) != params) {
			t.Fatalf("ReadInputRequired(%s) asks %+v", doc, r)
		}
	}
}

// A failer is a testing.T or a rapid.T.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

var documents = []string{
	`{}`, ` { } `, `[]`, `null`, `"a"`, `5`, ``, `{`, `{"a"`, `{"a":`, `{"_meta":{`, `{"resultType":null`, `{"ttlMs":nul}`, `}`, `{"a":"\u12"}`,
	`{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"x":1},"a":12345678901234567890}`,
	`{"a":1,"_meta":{"io.modelcontextprotocol/logLevel":"info"},"b":[1,2]}`,
	`{"resultType":"complete", "ttlMs":5 ,"content":[],"cacheScope":"public"}`,
	`{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"},"a":{"method":"x","params":{}}},"requestState":"s"}`,
	`{"inputResponses":{"a":{}},"requestState":"\ud800","name":"x"}`,
	`{"extensions":{"io.modelcontextprotocol/tasks":{},"io.modelcontextprotocol/ui":{"mimeTypes":["a","b"]}},"sampling":{"tools":{}},"elicitation":{}}`,
	`{"name":"t","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"properties":{"c":{"type":"integer","x-mcp-header":"C"}}}}}}`,
}

func FuzzDocument(f *testing.F) {
	for _, doc := range documents {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) { checkDocument(t, doc) })
}

func TestDocumentAgainstReference(t *testing.T) {
	for _, doc := range documents {
		checkDocument(t, []byte(doc))
	}
	rapid.Check(t, func(t *rapid.T) { checkDocument(t, []byte(object(4).Draw(t, "document"))) })
}

// object generates objects with the relevant names in all spellings.
func object(depth int) *rapid.Generator[string] {
	names := []string{
		`"_meta"`, `"_m\u0065ta"`, `"resultType"`, `"\u0072esultType"`, `"ttlMs"`, `"cacheScope"`, `"inputRequests"`, `"inputResponses"`,
		`"requestState"`, `"extensions"`, `"method"`, `"params"`, `"a"`, `"\u0061"`, `""`, `"\ud800"`, `"_meta\\"`,
		`"io.modelcontextprotocol/protocolVersion"`, `"io.modelcontextprotocol\/clientCapabilities"`, `"io.modelcontextprotocol/clientInfo"`,
		`"io.modelcontextprotocol/logLevel"`, `"io.modelcontextprotocol/serverInfo"`, `"io.modelcontextprotocol/tasks"`, `"io.modelcontextprotocol/ui"`,
	}
	space := rapid.SampledFrom([]string{"", "", "", " ", "\n\t", "\r\n  "})
	return rapid.Custom(func(t *rapid.T) string {
		sp := func() string { return space.Draw(t, "space") }
		var parts []string
		for range rapid.IntRange(0, 6).Draw(t, "members") {
			parts = append(parts, sp()+rapid.SampledFrom(names).Draw(t, "name")+sp()+":"+sp()+value(depth-1).Draw(t, "value")+sp())
		}
		return "{" + sp() + strings.Join(parts, ",") + "}"
	})
}

func value(depth int) *rapid.Generator[string] {
	scalar := rapid.SampledFrom([]string{
		"null", "true", "false", "0", "12345678901234567890", "-1.50e+3", `"complete"`, `"input_required"`, `"t\u0061sk"`,
		`""`, `"2026-07-28"`, `"\"}{,:\\"`, `"\ud83d\ude00é"`, `"\udc00"`, "[]", "{}", "[ 1 , [ null ] ]",
	})
	if depth <= 0 {
		return scalar
	}
	return rapid.OneOf(scalar, object(depth), rapid.Map(object(depth-1), func(s string) string { return "[" + s + ",1]" }))
}
