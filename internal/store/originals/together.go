package originals

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// Together is a store in an engine, to which several texts go at once, with what others write there.
type Together interface {
	// PutEach is Put for each of the texts, in one round trip: it gives their ids, or why they are not kept. Commands that others add to the pipeline
	// go with them; whether the engine has done those, they tell themselves.
	PutEach(ctx context.Context, tenant string, texts []string, others func(context.Context, redis.Pipeliner)) (ids []string, errs []error)
}

// InOneTrip gives the store that Open has made as one to which several texts go at once; false: each is a Put.
func InOneTrip(store Store) (Together, bool) {
	switch s := store.(type) {
	case *Redis:
		return s, true
	case *timed:
		each, ok := InOneTrip(s.store)
		return &timedEach{s, each}, ok
	case *reported:
		each, ok := InOneTrip(s.StoreCloser)
		return &reportedEach{s, each}, ok
	}
	return nil, false
}

type timedEach struct {
	*timed

	each Together
}

// PutEach waits for the answer, however late: others must know what became of their commands before they write anything else. Texts that took longer
// than a Put may count as not kept.
func (t *timedEach) PutEach(ctx context.Context, tenant string, texts []string, others func(context.Context, redis.Pipeliner)) (ids []string, errs []error) {
	began := time.Now()
	ids, errs = t.each.PutEach(ctx, tenant, texts, others)
	took := time.Since(began)
	for i := range errs {
		if errs[i] == nil && took > t.limit {
			ids[i], errs[i] = "", fmt.Errorf("%w: it took %s", ErrUnavailable, took.Round(time.Millisecond))
		}
		if errs[i] != nil {
			t.lost.Add(1)
		}
	}
	return ids, errs
}

type reportedEach struct {
	*reported

	each Together
}

func (r *reportedEach) PutEach(ctx context.Context, tenant string, texts []string, others func(context.Context, redis.Pipeliner)) (ids []string, errs []error) {
	ids, errs = r.each.PutEach(ctx, tenant, texts, others)
	for _, err := range errs {
		if err != nil {
			r.refused(ctx, err)
		}
	}
	r.kept(ctx)
	return ids, errs
}
