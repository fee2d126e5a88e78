package telemetry_test

import (
	"context"
	"net/http"
	"testing"

	"secateur/internal/ops/telemetry"
)

const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// under returns the context of a request with these headers.
func under(t *testing.T, header ...string) context.Context {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	ctx, _ := telemetry.WithRequest(t.Context(), "", nil)
	var off *telemetry.Tracing
	ctx, _ = off.StartHTTP(ctx, r, "/mcp")
	return ctx
}

func TestParamsTellTheTrace(t *testing.T) {
	for _, c := range []struct {
		rule         string
		header, meta []string
		params, want string
	}{
		{"nothing to tell", nil, nil, `{"a":1}`, `{"a":1}`},
		{"into params without _meta", []string{"traceparent", parent}, nil, `{"a":1}`, `{"_meta":{"traceparent":"` + parent + `"},"a":1}`},
		{
			"into _meta",
			[]string{"traceparent", parent, "tracestate", "v=1"},
			[]string{`{"b":2}`},
			`{"_meta":{"b":2}}`,
			`{"_meta":{"tracestate":"v=1","traceparent":"` + parent + `","b":2}}`,
		},
		{
			"what is there already stays", nil,
			[]string{`{"traceparent":"` + parent + `"}`},
			`{"_meta":{"traceparent":"` + parent + `"}}`,
			`{"_meta":{"traceparent":"` + parent + `"}}`,
		},
		{
			"_meta wins over headers",
			[]string{"traceparent", "00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-b7ad6b7169203331-01"},
			[]string{`{"traceparent":"` + parent + `"}`},
			`{"_meta":{"traceparent":"` + parent + `"}}`, `{"_meta":{"traceparent":"` + parent + `"}}`,
		},
		{"a list has no place for it", []string{"traceparent", parent}, nil, `[1]`, `[1]`},
		{"no trace by the specification", []string{"traceparent", "00-zz-1-01"}, nil, `{}`, `{}`},
	} {
		ctx := under(t, c.header...)
		var meta []byte
		if c.meta != nil {
			meta = []byte(c.meta[0])
		}
		ctx, _ = telemetry.StartMessage(ctx, meta)
		if got := string(telemetry.TraceParams(ctx, []byte(c.params), meta)); got != c.want {
			t.Errorf("%s: %s, want %s", c.rule, got, c.want)
		}
	}
	if got := string(telemetry.TraceParams(under(t, "traceparent", parent), nil, nil)); got != `{"_meta":{"traceparent":"`+parent+`"}}` {
		t.Errorf("without params: %s", got)
	}
}

// Disabled tracing does not allocate.
func TestTracesThatAreOffCostNoAllocation(t *testing.T) {
	ctx := under(t)
	params, meta, header := []byte(`{"_meta":{"progressToken":1}}`), []byte(`{"progressToken":1}`), http.Header{"Accept": {"a"}}
	if n := testing.AllocsPerRun(100, func() {
		ctx, span := telemetry.StartMessage(ctx, meta)
		span.Name("tools/call", "files", "read")
		_ = telemetry.TraceParams(ctx, params, meta)
		_ = telemetry.TraceHeader(ctx, header)
		ctx, provider := telemetry.StartProvider(ctx, "p", "POST", "/x")
		provider.Status(200)
		provider.End("ok")
		span.End("ok")
		_ = ctx
	}); n > 0 {
		t.Errorf("%v allocations a call, want none", n)
	}
}

func TestSettingsAreChecked(t *testing.T) {
	good := telemetry.Default()
	if err := good.Validate(); err != nil {
		t.Errorf("the default: %v", err)
	}
	for rule, change := range map[string]func(*telemetry.Settings){
		"no scheme":       func(s *telemetry.Settings) { s.OTLPEndpoint = "collector:4318" },
		"another scheme":  func(s *telemetry.Settings) { s.OTLPEndpoint = "grpc://collector:4317" },
		"more than all":   func(s *telemetry.Settings) { s.Sample = 1.5 },
		"less than none":  func(s *telemetry.Settings) { s.Sample = -0.1 },
		"nobody's traces": func(s *telemetry.Settings) { s.OTLPEndpoint, s.ServiceName = "http://127.0.0.1:4318", "" },
	} {
		bad := good
		change(&bad)
		if bad.Validate() == nil {
			t.Errorf("%s: %+v is taken", rule, bad)
		}
	}
}
