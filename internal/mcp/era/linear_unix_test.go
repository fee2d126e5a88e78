//go:build unix

package era_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"secateur/internal/mcp/era"
)

func TestHostileDocumentsTakeLinearTime(t *testing.T) {
	const n = 20_000
	nest := func(open, end string) string { return strings.Repeat(open, n) + "1" + strings.Repeat(end, n) }
	for rule, doc := range map[string]string{
		"objects in objects":      nest(`{"properties":`, `}`),
		"schemas in schemas":      `{"inputSchema":` + nest(`{"properties":{"a":`, `}}`) + `}`,
		"items in items":          `{"inputSchema":` + nest(`{"items":`, `}`) + `}`,
		"many properties":         `{"inputSchema":{"properties":{` + strings.Repeat(`"a":{"type":"string"},`, n) + `"b":1}}}`,
		"many headers":            `{"inputSchema":{"properties":{` + annotatedProperties(n/10) + `}}}`,
		"arrays in capabilities":  `{"a":` + nest(`[`, `]`) + `}`,
		"objects in capabilities": nest(`{"a":`, `}`),
		"many capabilities":       `{` + strings.Repeat(`"a":{},`, n) + `"b":1}`,
		"many elements":           `{"a":[` + strings.Repeat(`"x",`, n) + `1]}`,
		"many members of _meta":   `{"_meta":{` + strings.Repeat(`"io.modelcontextprotocol/logLevel":1,`, n) + `"b":1}}`,
		"many to drop and keep":   `{` + strings.Repeat(`"ttlMs":1,"a":1,`, n) + `"b":1}`,
		"many questions":          `{"resultType":"input_required","inputRequests":{` + strings.Repeat(`"a":{},`, n) + `"b":1}}`,
		"many answers":            `{"inputResponses":{` + strings.Repeat(`"a":{},`, n) + `"b":1}}`,
		"backslashes":             `{"a":"` + strings.Repeat(`\\`, n) + `"}`,
		"quotes":                  `{"a":"` + strings.Repeat(`\"`, n),
	} {
		b := []byte(doc)
		before := processorTime(t)
		era.WithoutMeta(b)
		era.ReadMeta(b)
		era.ResultToLegacy(b)
		era.ResultToModern("tools/list", b, []byte(`{}`))
		era.ReadInputRequired(b)
		era.ReadRetry(b)
		era.RetryParams(b, []era.InputResponse{{Key: "a", Value: []byte("1")}}, nil)
		era.Union(b, b)
		era.Covers(b, b)
		era.ForLegacy(b)
		era.Declares(b, "elicitation/create", b)
		headers, _ := era.ReadToolHeaders(b)
		headers.Of(b)
		manyHeaders(t).Of(b)
		if took := processorTime(t) - before; took > 5*time.Second {
			t.Errorf("%s: %v for %d bytes", rule, took, len(b))
		}
	}
}

// processorTime returns the CPU time used by this process. Unlike wall-clock time, it does not
// depend on other programs.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func annotatedProperties(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"p%d":{"type":"string","x-mcp-header":"p%d"},`, i, i)
	}
	return b.String() + `"z":true`
}
