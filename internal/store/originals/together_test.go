package originals_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"secateur/internal/store/originals"
	"secateur/internal/store/originals/originalstest"
	"secateur/internal/store/redisdb/redistest"
)

// Several texts at once give the same result as one by one. Others' commands run whatever happens
// to the texts.
func TestTextsTravelTogether(t *testing.T) {
	server := redistest.Start(t)
	store := openRedis(t, server, originals.RedisOptions{MaxBytes: 300_000})
	trips := 0
	putEach := func(s originals.Store, texts ...string) []error {
		t.Helper()
		together, ok := originals.InOneTrip(s)
		if !ok {
			t.Fatal("texts do not travel together")
		}
		trips++
		var others *redis.IntCmd
		ids, errs := together.PutEach(t.Context(), "", texts, func(ctx context.Context, p redis.Pipeliner) { others = p.Incr(ctx, "others") })
		if n, err := others.Result(); err != nil || int(n) != trips {
			t.Errorf("the others' command: %d, %v", n, err)
		}
		for i, id := range ids {
			if got, err := store.Get(t.Context(), "", id); errs[i] == nil && (err != nil || got != texts[i] || id != store.ID("", texts[i])) {
				t.Errorf("text %d = %d bytes, %v", i, len(got), err)
			}
		}
		return errs
	}
	a, b := originalstest.Noise(1, 100_000), originalstest.Noise(2, 100_000)
	if err := errors.Join(putEach(store, "one", a, "one", "two")...); err != nil {
		t.Errorf("PutEach = %v", err)
	}
	if s := store.Stats(); s.Count != 3 {
		t.Errorf("%d originals, want three: one text came twice", s.Count)
	}
	errs := putEach(store, originalstest.Noise(3, 400_000), b, originalstest.Noise(4, 150_000), "one")
	if !errors.Is(errs[0], originals.ErrTooLarge) || errs[1] != nil || !errors.Is(errs[2], originals.ErrFull) || errs[3] != nil {
		t.Errorf("PutEach = %v, want the first too large and no room for the third", errs)
	}
	if s := store.Stats(); s.Refused != 2 {
		t.Errorf("%d refused, want 2", s.Refused)
	}
	if errs := putEach(originals.WithReports(originals.WithPutTimeout(store, time.Minute), nil), "three"); errs[0] != nil {
		t.Errorf("PutEach within its time = %v", errs)
	}
	late := originals.WithReports(originals.WithPutTimeout(store, 1), nil)
	if errs := putEach(late, "four"); !errors.Is(errs[0], originals.ErrUnavailable) || late.Stats().Refused != 1 {
		t.Errorf("PutEach after its time = %v", errs)
	}
	if _, ok := originals.InOneTrip(originals.WithReports(&originals.Memory{}, nil)); ok {
		t.Error("texts travel together to a store in memory")
	}
}
