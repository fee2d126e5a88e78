package pool

import (
	"fmt"
	"testing"
	"time"
)

// benchPool is a pool of twenty running servers with thirty tools each.
func benchPool(b *testing.B) *Pool {
	b.Helper()
	servers := map[string]*fake{}
	var tools []string
	for i := range 30 {
		tools = append(tools, fmt.Sprintf("tool-%d", i))
	}
	for i := range 20 {
		s := newFake(b, tools...)
		s.eras = "both"
		servers[fmt.Sprintf("s%02d", i)] = s
	}
	f := poolOf(b, Options{Eager: true, FirstListWait: 10 * time.Second}, servers)
	run(b, f)
	for _, c := range []Client{legacy(`{"roots":{}}`), modernClient(`{"roots":{}}`)} {
		m := f.Join(c, nil)
		m.Catalog(b.Context())
		b.Cleanup(m.Leave)
	}
	return f
}

// BenchmarkMember measures the cost of a modern request and of a short session.
func BenchmarkMember(b *testing.B) {
	f := benchPool(b)
	for name, c := range map[string]Client{"legacy": legacy(`{"roots":{}}`), "modern": modernClient(`{"roots":{}}`)} {
		for what, do := range map[string]func(m *Member) error{
			"none":    func(*Member) error { return nil },
			"conn":    func(m *Member) error { _, err := m.Conn(b.Context(), "s07"); return err },
			"catalog": func(m *Member) error { m.Catalog(b.Context()); return nil },
		} {
			b.Run(name+"/"+what, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					m := f.Join(c, nil)
					if err := do(m); err != nil {
						b.Fatal(err)
					}
					m.Leave()
				}
			})
		}
	}
}
