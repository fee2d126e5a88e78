package proxy

import (
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/llm/bill"
	"secateur/internal/llm/chat"
)

// planned is a plan with a fixed record.
type planned chat.Record

func (p planned) Record(*bill.Usage) chat.Record { return chat.Record(p) }

func TestTheNextRequestFindsTheOneBeforeIt(t *testing.T) {
	estimate, final := &chat.Record{Messages: 1}, &chat.Record{Messages: 2}
	plan := planned(*estimate)
	for _, tt := range []struct {
		rule   string
		during func(f *flights, one *flight)
		want   *chat.Record
		after  time.Duration
	}{
		{"as an estimate while its answer is on its way", func(*flights, *flight) {}, estimate, 0},
		{"by waiting once its client may have all of it", func(f *flights, one *flight) {
			one.ending.Store(true)
			go func() {
				time.Sleep(time.Millisecond)
				f.land(one, final)
			}()
		}, final, time.Millisecond},
		{"but not for ever", func(_ *flights, one *flight) { one.ending.Store(true) }, nil, landingTime},
		{"in the store, once it has landed", func(f *flights, one *flight) { f.land(one, final) }, nil, 0},
		{"the last of several", func(f *flights, one *flight) {
			two := f.start("k", planned(*final))
			f.land(one, nil)
			_ = two
		}, final, 0},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var f flights
				tt.during(&f, f.start("k", plan))
				began := time.Now()
				if got := f.find(t.Context(), "k"); !reflect.DeepEqual(got, tt.want) || time.Since(began) != tt.after {
					t.Errorf("find = %v after %v, want %v after %v", got, time.Since(began), tt.want, tt.after)
				}
				if f.find(t.Context(), "other") != nil {
					t.Error("find of another key gave something")
				}
				synctest.Wait()
			})
		})
	}
}
