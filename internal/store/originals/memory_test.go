package originals_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"secateur/internal/store/originals"
	"secateur/internal/store/originals/originalstest"

	"pgregory.net/rapid"
)

func TestMemoryCopiesNothing(t *testing.T) {
	m := &originals.Memory{}
	text := strings.Repeat("a line\n", 100_000)
	id, err := m.Put(t.Context(), "", text)
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Get(t.Context(), "", id)
	if err != nil || unsafe.StringData(got) != unsafe.StringData(text) {
		t.Errorf("Get = %d bytes, %v, want the very string that was put", len(got), err)
	}
}

func TestMemoryForgetsAtTheMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &originals.Memory{TTL: time.Hour}
		id := keep(t, m, "text")
		time.Sleep(time.Hour)
		if _, err := m.Get(t.Context(), "", id); !errors.Is(err, originals.ErrNotFound) {
			t.Errorf("Get after an hour: err = %v, want ErrNotFound", err)
		}
	})
}

func TestMemoryBoundsTheNumberOfTinyTexts(t *testing.T) {
	const room = 1 << 20
	m := &originals.Memory{MaxBytes: room}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range room {
		if _, err := m.Put(t.Context(), "", fmt.Sprint(i)); err != nil {
			if !errors.Is(err, originals.ErrFull) {
				t.Fatalf("Put: err = %v, want ErrFull", err)
			}
			break
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if used := int64(after.HeapAlloc) - int64(before.HeapAlloc); used > room*5/4 {
		t.Errorf("%d tiny texts take %d bytes of memory, want about %d at most", m.Stats().Count, used, room)
	}
	runtime.KeepAlive(m)
}

func TestMemoryAfterClose(t *testing.T) {
	m := &originals.Memory{}
	id, err := m.Put(t.Context(), "", "text")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := m.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	if _, err := m.Put(t.Context(), "", "text"); !errors.Is(err, originals.ErrUnavailable) {
		t.Errorf("Put after Close: err = %v, want ErrUnavailable", err)
	}
	if _, err := m.Get(t.Context(), "", id); !errors.Is(err, originals.ErrUnavailable) {
		t.Errorf("Get after Close: err = %v, want ErrUnavailable", err)
	}
}

// For any sequence of Put, Get and waiting, the store behaves like a simple model.
func TestMemoryBehavesLikeItsModel(t *testing.T) {
	const ttl, room = 100 * time.Millisecond, 4000
	type entry struct {
		cost    int
		expires time.Time
	}
	synctest.Test(t, func(t *testing.T) {
		// In a synctest bubble a test has no Deadline, so hide that method from rapid.
		rapid.Check(struct{ testing.TB }{t}, func(rt *rapid.T) {
			store := &originals.Memory{MaxBytes: room, TTL: ttl}
			model := map[[2]string]entry{}
			texts := rapid.SampledFrom([]string{"", "a", "b", strings.Repeat("c", 900), strings.Repeat("d", 1800), strings.Repeat("e", 5000)})
			tenants := rapid.SampledFrom([]string{"", "t"})
			alive := func(e entry, known bool) bool { return known && time.Now().Before(e.expires) }
			rt.Repeat(map[string]func(*rapid.T){
				"put": func(rt *rapid.T) {
					tenant, text := tenants.Draw(rt, "tenant"), texts.Draw(rt, "text")
					cost := len(tenant) + len(text) + 256
					used := 0
					for _, e := range model {
						if alive(e, true) {
							used += e.cost
						}
					}
					var want error
					e, known := model[[2]string{tenant, text}]
					if cost > room {
						want = originals.ErrTooLarge
					} else if !alive(e, known) && used+cost > room {
						want = originals.ErrFull
					}
					if _, err := store.Put(t.Context(), tenant, text); !errors.Is(err, want) {
						rt.Fatalf("Put(%q, %.3q…) with %d of %d used: err = %v, want %v", tenant, text, used, room, err, want)
					}
					if want == nil {
						model[[2]string{tenant, text}] = entry{cost, time.Now().Add(ttl)}
					}
				},
				"get": func(rt *rapid.T) {
					tenant, text := tenants.Draw(rt, "tenant"), texts.Draw(rt, "text")
					key := [2]string{tenant, text}
					e, known := model[key]
					got, err := store.Get(t.Context(), tenant, originals.ID(tenant, text))
					if !alive(e, known) {
						if !errors.Is(err, originals.ErrNotFound) {
							rt.Fatalf("Get: err = %v, want ErrNotFound", err)
						}
						return
					}
					if err != nil || got != text {
						rt.Fatalf("Get = %.3q…, %v, want %.3q…", got, err, text)
					}
					model[key] = entry{e.cost, time.Now().Add(ttl)}
				},
				"wait": func(rt *rapid.T) {
					time.Sleep(time.Duration(rapid.IntRange(1, 60).Draw(rt, "wait")) * time.Millisecond)
				},
				"": func(rt *rapid.T) {
					var count, used int
					for _, e := range model {
						if alive(e, true) {
							count++
							used += e.cost
						}
					}
					if s := store.Stats(); s.Count != count || s.Bytes != int64(used) {
						rt.Fatalf("Stats = %+v, want %d originals, %d bytes", s, count, used)
					}
				},
			})
		})
	})
}

func benchmarkStore(b *testing.B, open func(b *testing.B) originals.Store) {
	b.Helper()
	line := "2026-03-01T10:00:00Z INFO request served path=/api/v1/items/%d status=200 duration_ms=%d\n"
	logs := func(seed, size int) string {
		var sb strings.Builder
		for i := 0; sb.Len() < size; i++ {
			fmt.Fprintf(&sb, line, seed*7919+i*31, i%977)
		}
		return sb.String()[:size]
	}
	for _, size := range []int{16 << 10, 1 << 20} {
		texts := make([]string, 64)
		for i := range texts {
			texts[i] = logs(i, size)
		}
		b.Run(fmt.Sprintf("Put/%dKB", size>>10), func(b *testing.B) {
			s := open(b)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				// A new tenant makes each text new without building one. Start over before the
				// store is full.
				if i%100 == 99 {
					b.StopTimer()
					s = open(b)
					b.StartTimer()
				}
				if _, err := s.Put(b.Context(), fmt.Sprint(i), texts[i%len(texts)]); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("PutAgain/%dKB", size>>10), func(b *testing.B) {
			s := open(b)
			b.SetBytes(int64(size))
			for b.Loop() {
				if _, err := s.Put(b.Context(), "", texts[0]); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("Get/%dKB", size>>10), func(b *testing.B) {
			s := open(b)
			id, err := s.Put(b.Context(), "", texts[0])
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Get(b.Context(), "", id); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkMemory(b *testing.B) {
	benchmarkStore(b, func(*testing.B) originals.Store { return &originals.Memory{} })
}

func BenchmarkFile(b *testing.B) {
	benchmarkStore(b, func(b *testing.B) originals.Store {
		b.Helper()
		f, err := originals.OpenFile(originals.FileOptions{Dir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { f.Close() })
		return f
	})
}

func BenchmarkMemoryContended(b *testing.B) {
	m := &originals.Memory{}
	ids := make([]string, 1000)
	for i := range ids {
		ids[i], _ = m.Put(b.Context(), "", originalstest.Noise(uint64(i), 100))
	}
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			if _, err := m.Get(b.Context(), "", ids[i%len(ids)]); err != nil {
				b.Error(err)
			}
		}
	})
}
